"""neardup on Ray: neardup.ray.dedupe()."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from . import _engines as engines
from ._library import DEFAULT
from ._signing import Lexicon

# Ids of rows that go, at most, which each task that filters rows has in memory.
_IDS_OF_TASK = 10_000_000


def dedupe(ds: Any, threshold: float = DEFAULT.threshold, *, text: str, id: str, order: Any, report: bool = False,
           against: Any = None, blocks: int | None = None, k: int | None = None, b: int | None = None, scheme: str | None = None,
           lexicon: Lexicon | None = None, nearest: bool = False, decide: str = "texts", jobs: int = 1, memory: int = 0) -> Any:
    """Returns the rows of a ray.data.Dataset that stay when near-duplicates go, as neardup.spark.dedupe() does of a
    DataFrame; help() of that explains the arguments.  A task takes `jobs` processors.  Ray needs polars for report=True,
    and for more than 10 million rows that go or stay for them."""
    how = engines.how_of(text, id, order, ds.columns() or [], report, None if against is None else against.columns() or [], decide,
                         threshold=threshold, k=k, b=b, scheme=scheme, lexicon=lexicon, nearest=nearest, jobs=jobs, memory=memory)
    held, rows = [], ds
    if against is not None:
        held = [_held(ds, against, how, blocks or how.blocks(against.count()))]
        rows = _without(ds, held, how, False)
    count = blocks or how.blocks(rows.count())
    found = _by_blocks(rows, how, count) if count > 1 else [_in_one_task(rows, how)]
    if not report:
        return _without(ds, [*held, *found], how, True)
    names = [*engines.REPORT, *(["against"] if held else [])]
    answers = [_task(how, _answers, names, table) for table in [*found, *held]]
    return _joined(ds, import_module("ray.data").from_arrow_refs(answers), how, True)


# The columns of the digests of rows now, and of whether rows go.
_NOW, _GOES = "neardup_now", "neardup_goes"

# How batches are mapped.
_TABLES: dict[str, Any] = {"batch_format": "pyarrow", "batch_size": None}


def _places(table: Any, how: engines.How, marks: Any) -> Any:
    """Returns the places of the ids of rows among those of marks, or null."""
    ids = table[how.id]
    return import_module("pyarrow.compute").index_in(ids, marks["id"].combine_chunks().cast(ids.type)).combine_chunks()


def _now(how: engines.How, table: Any) -> Any:
    return table.append_column(_NOW, engines.digests(table[how.id], table[how.text]))


def _stay(how: engines.How, marks: Any, table: Any) -> Any:
    """Returns the rows that stay by their marks, if those that have some are as they were."""
    compute = import_module("pyarrow.compute")
    marks = import_module("ray").get(marks)
    places = _places(table, how, marks)
    some = _now(how, table.filter(places.is_valid()))
    if not some[_NOW].equals(marks[engines.DIGEST].take(places.drop_null())):
        raise ValueError(engines.OTHER_ROWS)
    return table.filter(compute.invert(compute.fill_null(marks[_GOES].take(places), False)))


def _meet(how: engines.How, marks: Any, table: Any) -> Any:
    """Returns the places of the marks of rows."""
    return import_module("pyarrow").table([_places(table, how, import_module("ray").get(marks)).drop_null().cast("int64")], names=["place"])


def _met(count: int, nothing: Any, table: Any) -> Any:
    """Returns no row, if a row has been met for each mark."""
    if len(table["place"].unique()) <= count:
        raise ValueError(engines.OTHER_ROWS)
    return nothing


def _without(ds: Any, found: list[Any], how: engines.How, checked: bool) -> Any:
    """Returns the rows that stay by what hold() or cluster() say, and are as they were; if that is checked, another reading
    of the ids tells whether all are there."""
    ray, pyarrow = import_module("ray"), import_module("pyarrow")
    marks = _task(how, _marks, *found)
    if (count := ray.get(_task(how, _count, marks))) > _IDS_OF_TASK:
        return _joined(ds, ray.data.from_arrow_refs([marks]), how, False)
    rows = ds.map_batches(partial(_stay, how, marks), **_TABLES)
    if not checked:
        return rows
    schema = ds.schema().base_schema
    nothing = schema.empty_table() if isinstance(schema, pyarrow.Schema) else pyarrow.table({name: pyarrow.nulls(0) for name in schema.names})
    places = ds.select_columns([how.id]).map_batches(partial(_meet, how, marks), **_TABLES).union(ray.data.from_arrow(pyarrow.table({"place": [-1]})))
    return rows.union(places.repartition(1).map_batches(partial(_met, count, nothing), **_TABLES))


def _same(report: bool, table: Any) -> Any:
    """Returns the rows that stay of what is joined, if they are as they were; those of a report were all compared."""
    compute = import_module("pyarrow.compute")
    now, was = table[_NOW], table[engines.DIGEST]
    if now.null_count or report and was.null_count or not now.filter(was.is_valid()).equals(was.drop_null()):
        raise ValueError(engines.OTHER_ROWS)
    stays = table if report else table.filter(compute.invert(compute.fill_null(table[_GOES], False))).drop_columns(_GOES)
    return stays.drop_columns([_NOW, engines.DIGEST])


def _joined(ds: Any, found: Any, how: engines.How, report: bool) -> Any:
    """Returns rows joined by their ids, in as many parts as there are processors."""
    parts = max(int(import_module("ray").cluster_resources().get("CPU", 1)), 1)
    found = found.rename_columns({"id": how.id}) if how.id != "id" else found
    return ds.map_batches(partial(_now, how), **_TABLES).join(found, "full_outer", parts, on=(how.id,)).map_batches(partial(_same, report), **_TABLES)


def _task(how: engines.How, function: Callable[..., Any], *arguments: Any, results: int = 1) -> Any:
    """Starts a task; arguments may be results of others."""
    return import_module("ray").remote(function).options(num_cpus=how.jobs, num_returns=results).remote(*arguments)


def _signed(ds: Any, how: engines.How, blocks: int) -> Any:
    return ds.select_columns(how.columns).map_batches(partial(engines.sign, how, blocks), **_TABLES)


def _tables(ds: Any, how: engines.How) -> tuple[list[Any], list[int]]:
    """Returns tables that have rows, and how many these are: Ray maps no others."""
    tables = ds.to_arrow_refs()
    counts = import_module("ray").get([_task(how, _count, table) for table in tables])
    return [table for table, count in zip(tables, counts) if count], [count for count in counts if count]


# ---- Tasks -----------------------------------------------------------------


def _stage(stage: Callable[..., Any], *tables: Any) -> Any:
    return stage(tables)


def _marks(*tables: Any) -> Any:
    """Returns the ids and digests of rows that go, and of those that stay for them."""
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    found = []
    for table in tables:
        some = table.filter(compute.field("size") > 1) if "size" in table.column_names else table
        goes = compute.not_equal(some["keeper"], some["id"]) if some is not table else pyarrow.array([True] * len(table))
        found.append(some.select(["id", engines.DIGEST]).append_column(_GOES, goes))
    return pyarrow.concat_tables(found)


def _answers(names: list[str], table: Any) -> Any:
    """Returns the columns of a report, of what hold() or cluster() say."""
    nulls = import_module("pyarrow").nulls
    for name in {*names} - {*table.column_names}:
        table = table.append_column(name, nulls(len(table), "int64" if name == "size" else table["id"].type))
    return table.select(["id", *names, engines.DIGEST])


def _hold(how: engines.How, new: int, *tables: Any) -> Any:
    """Does hold() with the first tables against the others."""
    repeat = import_module("pyarrow").repeat
    return engines.hold(how, [table.select(["id", "value", engines.DIGEST]).append_column("old", repeat(i >= new, len(table))) for i, table in enumerate(tables)])


def _held_once(how: engines.How, *tables: Any) -> Any:
    return engines.held_once(how, import_module("pyarrow").concat_tables(tables))


def _split(blocks: int, names: list[str], table: Any) -> list[Any]:
    """Returns some columns of the rows of each block."""
    compute = import_module("pyarrow.compute")
    return [table.filter(compute.equal(table["block"], block)).select(names) for block in range(blocks)]


def _number(blocks: int, first: int, table: Any) -> list[Any]:
    """Returns the rows of each block, with their numbers, and the ids of all."""
    pyarrow = import_module("pyarrow")
    numbers = pyarrow.array(range(first, first + len(table)), pyarrow.int64())
    return [*_split(blocks, ["row", "value", engines.DIGEST], table.append_column("row", numbers)), table.select(["id", "empty", engines.DIGEST])]


def _count(table: Any) -> int:
    return len(table)


def _concat(*tables: Any) -> Any:
    return import_module("pyarrow").concat_tables(tables)


def _distinct(*tables: Any) -> bool:
    return engines.are_distinct(_concat(*tables)["id"])


# ---- Plans -----------------------------------------------------------------


def _in_one_task(ds: Any, how: engines.How) -> Any:
    return _task(how, _stage, partial(engines.cluster, how), *_tables(_signed(ds, how, 1), how)[0])


def _held(ds: Any, against: Any, how: engines.How, blocks: int) -> Any:
    """Returns what hold() says: each task has all rows, and a block of `against`."""
    how = replace(how, order=())
    new, old = (_tables(_signed(side, how, blocks), how)[0] for side in (ds, against))
    parts = [_task(how, _split, blocks, ["id", "value", engines.DIGEST], table, results=blocks) for table in old] if blocks > 1 else [[table] for table in old]
    return _task(how, _held_once, how, *(_task(how, _hold, how, len(new), *new, *(part[block] for part in parts)) for block in range(blocks)))


def _by_blocks(ds: Any, how: engines.How, blocks: int) -> list[Any]:
    """Returns what cluster() says, by tasks of two blocks each."""
    ray = import_module("ray")
    ordered, counts = _tables(_signed(ds, how, blocks).sort(how.names), how)
    firsts = [sum(counts[:i]) for i in range(len(counts))]
    split = [_task(how, _number, blocks, *part, results=blocks + 1) for part in zip(firsts, ordered)]
    del ordered
    edges = [_task(how, _stage, partial(engines.join, how, blocks, a, b), *(part[block] for block in sorted({a, b}) for part in split))
             for a, b in engines.parts_of(blocks)]
    ids = [part[blocks] for part in split]
    del split
    if not ray.get(_task(how, _distinct, *ids)):
        raise ValueError("an id is in several rows: give each row its own")
    found = _task(how, _stage, partial(engines.keep, how), *edges)
    names = _task(how, _concat, *(_task(how, engines.named, first, table, found) for first, table in zip(firsts, ids)))
    return [_task(how, engines.answer, first, table, found, names) for first, table in zip(firsts, ids)]
