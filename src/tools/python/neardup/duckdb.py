"""neardup in DuckDB: neardup.duckdb.register()."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from ._library import DEFAULT
from ._signing import Lexicon, minhash, shingles, simhash
from ._values import similarity


def register(connection: Any, *, k: int = DEFAULT.k, b: int = DEFAULT.b, scheme: str | None = None, lexicon: Lexicon | None = None,
             jobs: int = 1) -> None:
    """Creates functions in a connection, under their names in PostgreSQL: to_minhash, to_simhash and to_shingles of a
    VARCHAR, which return a BLOB, and similarity of two of these.  Of a NULL they return NULL.  k and b are of to_minhash,
    scheme and lexicon of all that have them."""
    pyarrow = import_module("pyarrow")
    makers = {"to_minhash": partial(minhash, k=k, b=b, scheme=scheme, lexicon=lexicon, jobs=jobs), "to_simhash": partial(simhash, scheme=scheme, jobs=jobs),
              "to_shingles": partial(shingles, scheme=scheme, lexicon=lexicon, jobs=jobs)}

    def column(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda texts: pyarrow.array(make(texts)).cast(pyarrow.large_binary())

    for name, make in makers.items():
        connection.create_function(name, column(make), ["VARCHAR"], "BLOB", type="arrow")
    connection.create_function("similarity", lambda x, y: pyarrow.array(map(similarity, x.to_pylist(), y.to_pylist()), pyarrow.float64()),
                               ["BLOB", "BLOB"], "DOUBLE", type="arrow")
