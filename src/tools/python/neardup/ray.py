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
           against: Any = None, blocks: int | None = None, k: int = DEFAULT.k, b: int = DEFAULT.b, scheme: str | None = None,
           lexicon: Lexicon | None = None, nearest: bool = False, decide: str = "texts", jobs: int = 1, memory: int = 0) -> Any:
    """Returns the rows of a ray.data.Dataset that stay when near-duplicates go, as neardup.spark.dedupe() does of a
    DataFrame; help() of that explains the arguments.  A task takes `jobs` processors.  Ray needs polars for report=True,
    and for more than 10 million rows that go."""
    how = engines.how_of(text, id, order, ds.columns() or [], report, None if against is None else against.columns() or [], decide,
                         threshold=threshold, k=k, b=b, scheme=scheme, lexicon=lexicon, nearest=nearest, jobs=jobs, memory=memory)
    held, rows = [], ds
    if against is not None:
        held = [_held(ds, against, how, blocks or how.blocks(against.count()))]
        rows = _without(ds, held, how)
    count = blocks or how.blocks(rows.count())
    found = _by_blocks(rows, how, count) if count > 1 else [_in_one_task(rows, how)]
    if not report:
        return _without(rows, found, how)
    data = import_module("ray.data")
    answers = data.from_arrow_refs(found)
    return _joined(ds, answers.union(data.from_arrow_refs(held)) if held else answers, how, "inner")


def _stay(table: Any, id: str, gone: Any) -> Any:
    compute = import_module("pyarrow.compute")
    ids = import_module("ray").get(gone)["id"]
    return table.filter(compute.invert(compute.is_in(table[id], ids.cast(table[id].type))))


def _without(ds: Any, found: list[Any], how: engines.How) -> Any:
    """Returns the rows that stay by what hold() or cluster() say."""
    ray = import_module("ray")
    gone = _task(how, _gone, *found)
    if ray.get(_task(how, _count, gone)) > _IDS_OF_TASK:
        return _joined(ds, ray.data.from_arrow_refs([gone]), how, "left_anti")
    return ds.map_batches(_stay, batch_format="pyarrow", batch_size=None, fn_kwargs={"id": how.id, "gone": gone})


def _joined(ds: Any, found: Any, how: engines.How, kind: str) -> Any:
    """Returns rows joined by their ids, in as many parts as there are processors."""
    parts = max(int(import_module("ray").cluster_resources().get("CPU", 1)), 1)
    return ds.join(found.rename_columns({"id": how.id}) if how.id != "id" else found, kind, parts, on=(how.id,))


def _task(how: engines.How, function: Callable[..., Any], *arguments: Any, results: int = 1) -> Any:
    """Starts a task; arguments may be results of others."""
    return import_module("ray").remote(function).options(num_cpus=how.jobs, num_returns=results).remote(*arguments)


def _signed(ds: Any, how: engines.How, blocks: int) -> Any:
    return ds.select_columns(how.columns).map_batches(partial(engines.sign, how, blocks), batch_format="pyarrow", batch_size=None)


# ---- Tasks -----------------------------------------------------------------


def _stage(stage: Callable[..., Any], *tables: Any) -> Any:
    return stage(tables)


def _gone(*tables: Any) -> Any:
    """Returns the ids of rows that are not their own keepers."""
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    return pyarrow.concat_tables([(table.filter(compute.not_equal(table["keeper"], table["id"])) if "keeper" in table.column_names else table).select(["id"]) for table in tables])


def _hold(how: engines.How, new: int, *tables: Any) -> Any:
    """Does hold() with the first tables against the others."""
    repeat = import_module("pyarrow").repeat
    return engines.hold(how, [table.select(["id", "value"]).append_column("old", repeat(i >= new, len(table))) for i, table in enumerate(tables)])


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
    return [*_split(blocks, ["row", "value"], table.append_column("row", numbers)), table.select(["id", "empty"])]


def _count(table: Any) -> int:
    return len(table)


def _concat(*tables: Any) -> Any:
    return import_module("pyarrow").concat_tables(tables)


def _distinct(*tables: Any) -> bool:
    return engines.are_distinct(_concat(*tables)["id"])


# ---- Plans -----------------------------------------------------------------


def _in_one_task(ds: Any, how: engines.How) -> Any:
    return _task(how, _stage, partial(engines.cluster, how), *_signed(ds, how, 1).to_arrow_refs())


def _held(ds: Any, against: Any, how: engines.How, blocks: int) -> Any:
    """Returns what hold() says: each task has all rows, and a block of `against`."""
    how = replace(how, order=())
    new, old = (_signed(side, how, blocks).to_arrow_refs() for side in (ds, against))
    parts = [_task(how, _split, blocks, ["id", "value"], table, results=blocks) for table in old] if blocks > 1 else [[table] for table in old]
    return _task(how, _held_once, how, *(_task(how, _hold, how, len(new), *new, *(part[block] for part in parts)) for block in range(blocks)))


def _by_blocks(ds: Any, how: engines.How, blocks: int) -> list[Any]:
    """Returns what cluster() says, by tasks of two blocks each."""
    ray = import_module("ray")
    ordered = _signed(ds, how, blocks).sort(how.names).to_arrow_refs()
    counts = ray.get([_task(how, _count, table) for table in ordered])
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
