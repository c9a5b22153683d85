"""What tasks of an engine such as Spark do, on tables of pyarrow: they sign, find pairs and find keepers.

The engine moves rows.  Each stage is a function of tables or batches that returns a table:

    sign        the columns that tell the order of the rows, and the value that is compared: a signature, or the text
    hold        of all rows, and of those that they are held against: the rows that are similar to one of these
    cluster     of all rows: the keeper of each
    join        of the rows of two blocks, which have numbers in order: the pairs
    keep        of all pairs: the keeper of each row in a cluster
    answer      of rows and their keepers: what cluster says

A row has a digest of its id and its text in all of them.  An engine may compute rows again, and get others: so a row only
goes, and a number only stands for a row, with the digest of what was compared.

One task clusters what its memory holds; beyond, rows are numbered, joined by many tasks, and kept by one."""

import pickle
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from typing import Any

from ._joining import NO_KEEPER, _clusters, _options, pairs
from ._keeping import blocks_of, keepers
from ._library import DEFAULT
from ._signing import Lexicon, minhash
from ._tables import make_values, shape_of
from ._values import Values

# Rows, if a call does not say, of which a task takes the signatures, or the texts.
_ROWS_OF_BLOCK = {"signatures": 50_000_000, "texts": 5_000_000}

EDGE = [("a", "u8"), ("b", "u8"), ("similarity", "f8")]

# The column of digests.
DIGEST = "neardup_digest"

OTHER_ROWS = "other rows than before come under the same ids: keep them first, as by checkpoint() or materialize()"

# The columns of a report.
REPORT = ["keeper", "similarity", "size"]


@dataclass(frozen=True)
class How:
    """What dedupe() was told."""

    text: str
    id: str
    order: tuple[str, ...]
    threshold: float = DEFAULT.threshold
    k: int | None = None
    b: int | None = None
    scheme: str | None = None
    lexicon: Lexicon | None = None
    nearest: bool = False
    decide: str = "texts"
    jobs: int = 1
    memory: int = 0

    @property
    def keys(self) -> list[str]:
        """The columns by which rows are sorted: no two rows have the same, since the id is the last."""
        return [name for name in self.order if name != self.id] + [self.id]

    @property
    def names(self) -> list[str]:
        """Their names in tasks: the id is the last."""
        return [f"key{i}" for i in range(len(self.keys) - 1)] + ["id"]

    @property
    def columns(self) -> list[str]:
        """The columns that sign() reads."""
        return self.keys + ([] if self.text in self.keys else [self.text])

    @property
    def options(self) -> Any:
        """Options of the library for clusters."""
        return _options(self.threshold, False, False, self.nearest, self.jobs, self.memory, None)

    def blocks(self, rows: int) -> int:
        """Returns the number of blocks for some rows; 1 if a task takes all."""
        return -(-rows // _ROWS_OF_BLOCK[self.decide]) or 1


def how_of(text: str, id: str, order: Any, columns: Iterable[str], report: bool = False, against: Iterable[str] | None = None,
           decide: str = "texts", **more: Any) -> How:
    """Returns what a call was told, or refuses it."""
    names = (order,) if isinstance(order, str) else tuple(order or ())
    known = list(columns)
    for name, found in [(name, known) for name in (text, id, *names)] + [(name, list(against)) for name in (text, id) if against is not None]:
        if name not in found:
            raise ValueError(f"there is no column {name!r}: the columns are {', '.join(map(repr, found))}")
    if decide not in _ROWS_OF_BLOCK:
        raise ValueError(f'decide is "texts" or "signatures", not {decide!r}')
    if report and (taken := {*REPORT, *([] if against is None else ["against"])} & {*known}):
        raise ValueError(f"the table has a column {min(taken)!r} already")
    return How(text, id, names, decide=decide, **more)


def parts_of(blocks: int) -> list[tuple[int, int]]:
    """Returns the pairs of blocks that are joined."""
    return [(a, b) for b in range(blocks) for a in range(b + 1)]


# ---- Values ----------------------------------------------------------------


def digests(ids: Any, texts: Any) -> Any:
    """Returns the digests of rows, for an engine that has none of its own."""
    pyarrow = import_module("pyarrow")
    rows = (blake2b(pickle.dumps(row, 4), digest_size=8).digest() for row in zip(ids.to_pylist(), texts.to_pylist()))
    return pyarrow.array([int.from_bytes(digest, "little", signed=True) for digest in rows], pyarrow.int64())


def sign(how: How, blocks: int, table: Any) -> Any:
    """Returns the keys of the rows, none of which may be null, and what is compared, in which a null is an empty text; if
    there are several blocks, also the block of each row, and whether it has no text."""
    import numpy
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    columns = dict(zip(how.names, map(table.column, how.keys)))
    for name, column in zip(how.keys, columns.values()):
        if column.null_count:
            raise ValueError(f"the column {name!r} has a null, so the rows have no order: fill or filter it first")
    columns["value"] = texts = table.column(how.text)
    if texts.null_count:
        columns["value"] = texts = compute.fill_null(texts, pyarrow.scalar("", texts.type))
    if how.decide == "signatures" or blocks > 1:
        k, b = shape_of(how.k, how.b, how.decide)
        signatures = minhash(texts, k=k, b=b, scheme=how.scheme, lexicon=how.lexicon)
        if how.decide == "signatures":
            columns["value"] = pyarrow.array(signatures).cast(pyarrow.binary())
        if blocks > 1:
            columns["block"] = pyarrow.array(blocks_of(signatures, blocks), pyarrow.int32())
            columns["empty"] = pyarrow.array(numpy.asarray(signatures)[:, 1] & 16 != 0)
    columns[DIGEST] = table.column(DIGEST) if DIGEST in table.schema.names else digests(columns["id"], table.column(how.text))
    return pyarrow.table(columns)


def _read(how: How, names: list[str], tables: Iterable[Any]) -> tuple[Any, Values]:
    """Returns some columns of tables, and the values of their rows, whose texts wait in a temporary file."""
    pyarrow = import_module("pyarrow")
    rest: list[Any] = []

    def column() -> Iterator[Any]:
        for table in tables:
            whole = table if isinstance(table, pyarrow.Table) else pyarrow.Table.from_batches([table])
            rest.append(whole.select(names))
            yield from (chunk for chunk in whole["value"].chunks if len(chunk))

    if how.decide == "texts":
        from ._parquet import spooled
        with tempfile.TemporaryFile() as file:
            texts = spooled(column(), file)
        values = make_values(texts, k=how.k, b=how.b, scheme=how.scheme, lexicon=how.lexicon, shingles=False, decide="texts", threshold=how.threshold, jobs=how.jobs)
    else:
        # In one piece, which the library reads where it lies.
        fixed = [part.cast(pyarrow.binary(len(part[0].as_py()))) for part in column()]
        values = Values.of(pyarrow.concat_arrays(fixed) if fixed else [])
    return pyarrow.concat_tables(rest), values


def _numbers(places: Any) -> "array[int]":
    return array("I", places.cast("uint32").to_numpy().tobytes())


# ---- One task --------------------------------------------------------------


def hold(how: How, tables: Iterable[Any]) -> Any:
    """Returns the ids of rows that are similar to one whose column `old` is true, the id of that, `against`, and their
    similarity."""
    import numpy
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    table, values = _read(how, ["id", "old", DIGEST], tables)
    old = compute.indices_nonzero(table["old"])
    old = old.take(compute.sort_indices(table["id"].take(old)))
    new = _numbers(compute.indices_nonzero(compute.invert(table["old"])))
    places, similarities = map(numpy.asarray, _clusters(values.chosen(new), len(new), values.chosen(_numbers(old)), how.options))
    some = places != NO_KEEPER
    found = pyarrow.array(numpy.asarray(new)[some])
    columns = [table["id"].take(found), table["id"].take(old.take(pyarrow.array(places[some]))), similarities[some], table[DIGEST].take(found)]
    return pyarrow.table(columns, names=["id", "against", "similarity", DIGEST])


def held_once(how: How, held: Any) -> Any:
    """Returns what hold() says of all blocks of old rows, from what it says of each."""
    import numpy
    order = ([("similarity", "descending")] if how.nearest else []) + [("against", "ascending")]
    held = held.sort_by([("id", "ascending"), *order])
    codes = held["id"].combine_chunks().dictionary_encode().indices.to_numpy()
    return held.filter(import_module("pyarrow").array(numpy.diff(codes, prepend=-1) != 0))


def are_distinct(ids: Any) -> bool:
    """Returns whether no id is in several rows.  0.0 and -0.0 are one, as they are for engines and for PostgreSQL."""
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    same = compute.add(ids, pyarrow.scalar(0, ids.type)) if pyarrow.types.is_floating(ids.type) else ids
    return len(ids) == int(compute.count_distinct(same).as_py())


def cluster(how: How, tables: Iterable[Any]) -> Any:
    """Returns for each row its id and its keeper's, their similarity, and the size of the cluster, from all rows."""
    import numpy
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    table, values = _read(how, [*how.names, DIGEST], tables)
    if not are_distinct(table["id"]):
        raise ValueError("an id is in several rows: give each row its own")
    places = compute.sort_indices(table, [(name, "ascending") for name in how.names])
    numbers, ids = _numbers(places), table["id"].take(places)
    kept, similarities = map(numpy.asarray, _clusters(values.chosen(numbers), len(numbers), None, how.options))
    some = kept != NO_KEEPER
    known = numpy.where(some, kept, 0)
    sizes = numpy.bincount(kept[some], minlength=len(kept))[known]
    columns = [ids, ids.take(pyarrow.array(known, mask=~some)), similarities, pyarrow.array(sizes, pyarrow.int64(), mask=~some), table[DIGEST].take(places)]
    return pyarrow.table(columns, names=["id", *REPORT, DIGEST])


# ---- Many tasks ------------------------------------------------------------


def join(how: How, blocks: int, a: int, b: int, tables: Iterable[Any]) -> Any:
    """Returns the pairs of the rows of two blocks, by their numbers, in the column `row`, and the digests of both."""
    import numpy
    pyarrow = import_module("pyarrow")
    table, values = _read(how, ["row", DIGEST], tables)
    row, digest = (table[name].to_numpy() for name in ("row", DIGEST))
    found = numpy.asarray(pairs(values, how.threshold, jobs=how.jobs, memory=how.memory, part=(blocks, a, b)))
    columns = [row[found["a"]], row[found["b"]], found["similarity"].copy(), digest[found["a"]], digest[found["b"]]]
    return pyarrow.table(columns, names=["a", "b", "similarity", "digest_a", "digest_b"])


def _one_digest(rows: Any, digests: Any) -> tuple[Any, Any]:
    """Returns each row once, in order, and its digest, of which it may have only one."""
    import numpy
    once, first, place = numpy.unique(rows, return_index=True, return_inverse=True)
    if (digests != digests[first][place]).any():
        raise ValueError(OTHER_ROWS)
    return once, digests[first]


def keep(how: How, tables: Iterable[Any]) -> Any:
    """Returns the row, its keeper, their similarity, the size of the cluster and the digest, of all rows of clusters of two or
    more, from all pairs."""
    import numpy
    pyarrow = import_module("pyarrow")
    known = [(numpy.empty(0, "i8"), numpy.empty(0, "i8"))]

    def parts() -> Iterator[Any]:
        for table in tables:
            part = numpy.empty(table.num_rows, EDGE)
            for name, _ in EDGE:
                part[name] = table.column(name).to_numpy()
            known.append(_one_digest(*(numpy.concatenate([table.column(f"{name}{side}").to_numpy() for side in "ab"]) for name in ("", "digest_"))))
            yield part

    found = numpy.frombuffer(keepers(parts(), nearest=how.nearest, memory=how.memory), EDGE)
    kept, place, counts = numpy.unique(found["b"], return_inverse=True, return_counts=True)
    columns = [(found["a"], kept), (found["b"], kept), (found["similarity"], numpy.ones(len(kept))), (counts[place] + 1, counts + 1)]
    row, *rest = (numpy.concatenate(column).astype(kind) for column, kind in zip(columns, ["i8", "i8", "f8", "i8"]))
    rows, digests = _one_digest(*map(numpy.concatenate, zip(*known)))
    return pyarrow.table([row, *rest, digests[numpy.searchsorted(rows, row)]], names=["row", *REPORT, DIGEST])


def _found_of(table: Any, first: int, found: Any) -> Any:
    """Returns what keep() says of some rows, whose numbers begin with the first."""
    compute = import_module("pyarrow.compute")
    here = found.filter((compute.field("row") >= first) & (compute.field("row") < first + len(table)))
    if not table[DIGEST].take(compute.subtract(here["row"], first)).equals(here[DIGEST]):
        raise ValueError(OTHER_ROWS)
    return here


def named(first: int, table: Any, found: Any) -> Any:
    """Returns the numbers and the ids of keepers that others have, from some rows, whose numbers begin with the first."""
    compute = import_module("pyarrow.compute")
    here = _found_of(table, first, found)
    here = here.filter(compute.equal(here["row"], here["keeper"]))
    return here.select(["row"]).append_column("id", table["id"].take(compute.subtract(here["row"], first)))


def answer(first: int, table: Any, found: Any, names: Any) -> Any:
    """Returns what cluster() does, of some rows, whose numbers begin with the first, from what keep() and named() say."""
    import numpy
    pyarrow = import_module("pyarrow")
    here, names = _found_of(table, first, found), names.sort_by("row")
    place = here["row"].to_numpy() - first
    empty = table["empty"].to_numpy()
    # Keepers of others have places behind those of the rows.
    keeper = numpy.arange(len(table))
    keeper[place] = len(table) + numpy.searchsorted(names["row"].to_numpy(), here["keeper"].to_numpy())
    similarity, size = numpy.where(empty, 0.0, 1.0), numpy.ones(len(table), "i8")
    similarity[place], size[place] = here["similarity"].to_numpy(), here["size"].to_numpy()
    ids = pyarrow.concat_tables([table.select(["id"]), names.select(["id"])])["id"]
    return pyarrow.table([table["id"], ids.take(pyarrow.array(keeper, mask=empty)), similarity, pyarrow.array(size, mask=empty), table[DIGEST]], names=["id", *REPORT, DIGEST])
