"""neardup in SQLAlchemy, 2.0 or later, and Alembic: types of columns, and what autogenerate should leave alone.

    class Proposal(Base):
        __tablename__ = "proposals"
        id: Mapped[int] = mapped_column(primary_key=True)
        body: Mapped[str]
        sig: Mapped[bytes] = mapped_column(Minhash(), Computed("to_minhash(body)", persisted=True))
        __table_args__ = (Index("proposals_sig", "sig", postgresql_using="neardup"),)

    signature = func.to_minhash(text, type_=Minhash)
    select(Proposal).where(Proposal.sig.is_similar(signature, 0.8)).order_by(Proposal.sig.distance(signature)).limit(10)

Values are bytes, as neardup.minhash() makes them.  In Alembic's env.py, import this module, and pass
include_object=neardup.sqlalchemy.include_object to context.configure()."""

from typing import Any

from sqlalchemy import Boolean, Double, LargeBinary, cast, func, literal  # type: ignore[import-not-found,unused-ignore]
from sqlalchemy.dialects.postgresql.base import ischema_names  # type: ignore[import-not-found,unused-ignore]
from sqlalchemy.types import UserDefinedType  # type: ignore[import-not-found,unused-ignore]


class _Value(UserDefinedType[bytes]):  # type: ignore[misc,unused-ignore]
    name = ""

    def __init__(self, *modifiers: int) -> None:
        """Takes the numbers in parentheses of the SQL type, if any."""
        self.modifiers = modifiers

    def get_col_spec(self, **_: Any) -> str:
        return f"{self.name}({', '.join(map(str, self.modifiers))})" if self.modifiers else self.name

    def bind_expression(self, bindvalue: Any) -> Any:
        return cast(cast(bindvalue, LargeBinary), self)

    def column_expression(self, column: Any) -> Any:
        return cast(column, LargeBinary)

    class Comparator(UserDefinedType.Comparator[bytes]):  # type: ignore[misc,unused-ignore]
        """What columns of these types have; the other value is bytes or an expression."""

        def _operand(self, other: Any) -> Any:
            return literal(other, self.type) if isinstance(other, bytes) else other

        def is_similar(self, other: Any, threshold: Any) -> Any:
            """Is the similarity at least a threshold?  An index serves it."""
            return func.is_similar(self.expr, self._operand(other), threshold, type_=Boolean)

        def similarity(self, other: Any) -> Any:
            return func.similarity(self.expr, self._operand(other), type_=Double)

        def distance(self, other: Any) -> Any:
            """The operator <->, by which an index orders rows."""
            return self.op("<->", return_type=Double())(other)

    comparator_factory = Comparator


class Minhash(_Value):
    cache_ok = True
    name = "minhash"


class Simhash(_Value):
    cache_ok = True
    name = "simhash"


class Shingles(_Value):
    cache_ok = True
    name = "shingles"


ischema_names.update({kind.name: kind for kind in (Minhash, Simhash, Shingles)})


def include_object(item: Any, name: str | None, kind: str, reflected: bool, compare_to: Any) -> bool:
    """Tells Alembic's autogenerate to leave indexes alone that only the database has and a guard has made."""
    return not (kind == "index" and reflected and compare_to is None and item.dialect_options["postgresql"]["using"] == "neardup")
