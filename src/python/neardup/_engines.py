"""What tasks of an engine such as Spark do, on batches of pyarrow: they sign, find pairs and find keepers.

The engine moves rows.  Each stage is a function of batches that yields batches, and can be pickled:

    sign        the columns that tell the order of the rows, and a signature
    cluster     of all rows, in order: the keeper of each
    number      of all rows, in order: their numbers and blocks
    join        of the rows of two blocks: the pairs
    keep        of all pairs: the keeper of each row that has one

One task clusters what its memory holds; beyond, rows are numbered, joined by many tasks, and kept by one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ._joining import NO_KEEPER, clusters, pairs
from ._keeping import blocks_of, keepers
from ._library import DEFAULT
from ._signing import Lexicon, minhash

# Rows, if a call does not say, of which a task takes the signatures.
ROWS_OF_BLOCK = 50_000_000

# Rows that are yielded at a time.
_STEP = 1 << 16

EDGE = [("a", "u8"), ("b", "u8"), ("similarity", "f8")]


@dataclass(frozen=True)
class How:
    """What dedupe() was told."""

    text: str
    id: str
    order: tuple[str, ...]
    threshold: float = DEFAULT.threshold
    k: int = DEFAULT.k
    b: int = DEFAULT.b
    scheme: str | None = None
    lexicon: Lexicon | None = None
    nearest: bool = False
    memory: int = 0

    @property
    def keys(self) -> list[str]:
        """The columns by which rows are sorted: no two rows have the same, since the id is the last."""
        return [name for name in self.order if name != self.id] + [self.id]

    @property
    def names(self) -> list[str]:
        """Their names in tasks: the id is the last."""
        return [f"key{i}" for i in range(len(self.keys) - 1)] + ["id"]


def how_of(text: str, id: str, order: Any, columns: Iterable[str], **more: Any) -> How:
    """Returns what a call was told, or refuses it."""
    names = (order,) if isinstance(order, str) else tuple(order or ())
    known = list(columns)
    for name in (text, id, *names):
        if name not in known:
            raise ValueError(f"there is no column {name!r}: the columns are {', '.join(map(repr, known))}")
    return How(text, id, names, **more)


def block_count(rows: int, blocks: int | None) -> int:
    """Returns the number of blocks for some rows; 1 if a task takes all."""
    return blocks or -(-rows // ROWS_OF_BLOCK) or 1


def parts_of(blocks: int) -> list[tuple[int, int]]:
    """Returns the pairs of blocks that are joined."""
    return [(a, b) for b in range(blocks) for a in range(b + 1)]


def _fixed(column: Any) -> Any:
    """Returns signatures as a column of values of one size, in one piece, as the library reads it where it lies."""
    pyarrow = import_module("pyarrow")
    size = len(column[0].as_py()) if len(column) else 1
    fixed = column.cast(pyarrow.binary(size))
    return fixed.combine_chunks() if isinstance(fixed, pyarrow.ChunkedArray) else fixed


def _check_ids(ids: Any) -> None:
    compute = import_module("pyarrow.compute")
    if compute.count_distinct(ids).as_py() != len(ids):
        raise ValueError("an id is in several rows: give each row its own")


def sign(how: How, batches: Iterable[Any]) -> Iterator[Any]:
    """Yields the keys of the rows, none of which may be null, and their signatures; a null is an empty text."""
    pyarrow = import_module("pyarrow")
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    for batch in batches:
        for name in how.keys:
            if batch.column(name).null_count:
                raise ValueError(f"the column {name!r} has a null, so the rows have no order: fill or filter it first")
        texts = compute.fill_null(batch.column(how.text), "")
        values = minhash(texts, k=how.k, b=how.b, scheme=how.scheme, lexicon=how.lexicon)
        columns = [batch.column(name) for name in how.keys] + [pyarrow.array(values).cast(pyarrow.binary())]
        yield pyarrow.RecordBatch.from_arrays(columns, names=[*how.names, "signature"])


def cluster(how: How, batches: Iterable[Any]) -> Iterator[Any]:
    """Yields for each row its id and its keeper's, their similarity, and the size of the cluster, from all rows in order."""
    import numpy
    pyarrow = import_module("pyarrow")
    found = list(batches)
    if not found:
        return
    table = pyarrow.Table.from_batches(found)
    ids = table.column("id")
    _check_ids(ids)
    keepers, similarities = map(numpy.asarray, clusters(_fixed(table.column("signature")), how.threshold, nearest=how.nearest, memory=how.memory))
    some = keepers != NO_KEEPER
    places = numpy.where(some, keepers, 0)
    sizes = numpy.bincount(keepers[some], minlength=len(keepers))[places]
    for i in range(0, len(ids), _STEP):
        part = slice(i, i + _STEP)
        columns = [ids.take(pyarrow.array(places[part], mask=~some[part])), pyarrow.array(similarities[part]),
                   pyarrow.array(sizes[part], pyarrow.int64(), mask=~some[part])]
        yield from pyarrow.table([ids[part], *columns], names=["id", "keeper", "similarity", "size"]).to_batches()


def number(how: How, blocks: int, first: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Yields the numbers of the rows in order, from `first` on, their ids, whether they are empty, signatures and blocks."""
    pyarrow = import_module("pyarrow")
    for batch in batches:
        signature = batch.column("signature")
        row = pyarrow.array(range(first, first + len(batch)), pyarrow.int64())
        block = pyarrow.array(blocks_of(_fixed(signature), blocks), pyarrow.int64())
        empty = pyarrow.array([value.as_buffer()[1] & 16 != 0 for value in signature], pyarrow.bool_())
        first += len(batch)
        yield pyarrow.RecordBatch.from_arrays([row, batch.column("id"), empty, signature, block], names=["row", "id", "empty", "signature", "block"])


def join(how: How, blocks: int, a: int, b: int, table: Any) -> Any:
    """Returns the pairs of the rows of two blocks, by their numbers."""
    import numpy
    pyarrow = import_module("pyarrow")
    table = table.sort_by("row")
    row = table.column("row").to_numpy()
    found = numpy.asarray(pairs(_fixed(table.column("signature")), how.threshold, memory=how.memory, part=(blocks, a, b)))
    return pyarrow.table({"a": row[found["a"]], "b": row[found["b"]], "similarity": found["similarity"]})


def keep(how: How, batches: Iterable[Any]) -> Iterator[Any]:
    """Yields the row, its keeper and their similarity, of rows that are no keepers, from all pairs."""
    import numpy
    pyarrow = import_module("pyarrow")

    def parts() -> Iterator[Any]:
        for batch in batches:
            part = numpy.empty(batch.num_rows, EDGE)
            for name, _ in EDGE:
                part[name] = batch.column(name).to_numpy()
            yield part

    found = numpy.frombuffer(keepers(parts(), nearest=how.nearest, memory=how.memory), EDGE)
    columns = [found["a"].astype("i8"), found["b"].astype("i8"), found["similarity"].copy()]
    yield from pyarrow.table(columns, names=["row", "keeper", "similarity"]).to_batches(max_chunksize=_STEP)
