"""What a refused row was refused for: neardup.refusal()."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

_TEXT = re.compile(r"(?:has (?:similarity|containment) (?P<similarity>[\d.]+)|is similar) to row \((?P<names>.+)\)=\((?P<values>.*?)\)"
                   r"(?: of table \"(?P<table>.+?)\")?(?P<same> of the same statement)?\.(?: Guard|$)")


@dataclass(frozen=True)
class Refusal:
    """Why a guard or an exclusion constraint has refused a row, as far as the user may know it."""

    constraint: str
    """the guard or the constraint"""
    table: str
    similarity: float | None = None
    similar: dict[str, Any] = field(default_factory=dict)
    """the row that is similar: its key, and the columns that the guard shows"""
    similar_table: str | None = None
    """its table, if the guard's argument "against" names another one"""
    same_statement: bool = False
    """whether the statement itself has inserted it"""


def refusal(error: BaseException | None) -> Refusal | None:
    """Returns why a statement of psycopg (2 or 3), asyncpg, SQLAlchemy or Django was refused: SQLSTATE 23P01.  None for
    another error."""
    while error is not None and _state(error) is None:
        error = getattr(error, "orig", None) or error.__cause__
    if error is None or _state(error) != "23P01":
        return None
    told: Any = getattr(error, "diag", error)
    found = Refusal(told.constraint_name or "", told.table_name or "")
    return _with_detail(found, getattr(told, "message_detail", None) or getattr(told, "detail", None) or "")


def _state(error: BaseException) -> str | None:
    state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    # SQLAlchemy's adapter of asyncpg has the state, and the error itself as the cause.
    return state if hasattr(error, "diag") or hasattr(error, "constraint_name") else None


def _with_detail(found: Refusal, detail: str) -> Refusal:
    if detail.startswith("{"):
        told = json.loads(detail)
        return Refusal(found.constraint, found.table, told.get("similarity", told.get("containment")), told.get("similar", {}),
                       told.get("table"), told["same_statement"])
    if match := _TEXT.search(detail):
        similarity, names, values = match["similarity"], match["names"].split(", "), match["values"].split(", ")
        return Refusal(found.constraint, found.table, float(similarity) if similarity else None,
                       dict(zip(names, values)) if len(names) == len(values) else {}, match["table"], bool(match["same"]))
    return found
