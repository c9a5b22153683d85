"""neardup on Apache Spark, 4.1 or later: neardup.spark.dedupe()."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from . import _engines as engines
from ._library import DEFAULT
from ._signing import Lexicon

# Bytes of ids, at most, which each executor and the driver, whose default is a gigabyte, have in memory when rows go by them.
_BYTES_OF_IDS = 50 << 20


def dedupe(df: Any, threshold: float = DEFAULT.threshold, *, text: str, id: str, order: Any, report: bool = False,
           against: Any = None, blocks: int | None = None, k: int | None = None, b: int | None = None, scheme: str | None = None,
           lexicon: Lexicon | None = None, nearest: bool = False, decide: str = "texts", jobs: int = 1, memory: int = 0) -> Any:
    """Returns the rows of a DataFrame that stay when near-duplicates go: the first of each cluster in the order of the
    column `order`, or of several, then of `id`, and those without a text.  Rows that are similar to one of the DataFrame
    `against`, such as what earlier runs have kept, go first; it has the columns `text` and `id`.

    It is, row by row, what neardup.dedupe() says, and neardup_clusters() of PostgreSQL, ORDER BY these columns, COLLATE
    "C".  Each row has an id of its own; a null in these columns is an error.  With report=True all rows come out, with the
    id of their keeper (null without a text), their similarity to it, and the size of the cluster; with `against`, also the
    id of the first row there that is similar, and then only their similarity is not null.

    One task compares all rows if they are at most 50 million, or, if texts decide, 5 million; otherwise, or with `blocks`,
    blocks * (blocks + 1) / 2 tasks compare those of two blocks.  Each has `jobs` threads, and takes about `memory` bytes
    beside its rows; 0 is half of the machine's.  The work is done when dedupe() is called, and df is read several times:
    it is an error if a row that would go, or one that stays for it, is gone then, or has another text than the one that was
    compared.  Two executors keep which rows these are until no one has the result.  The other arguments are those of
    neardup.dedupe()."""
    how = engines.how_of(text, id, order, df.columns, report, None if against is None else against.columns, decide, threshold=threshold,
                         k=k, b=b, scheme=scheme, lexicon=lexicon, nearest=nearest, jobs=jobs, memory=memory)
    held = None
    rows = df
    if against is not None:
        held = _stored(_held(df, against, how, blocks or how.blocks(against.count())).withColumn(_GOES, import_module("pyspark.sql.functions").lit(True)))
        rows = _without(df, held, how)
    count = blocks or how.blocks(rows.count())
    found = _by_blocks(rows, how, count, report) if count > 1 else _in_one_task(rows, how, report)
    if held is not None:
        found = found.unionByName(held, allowMissingColumns=True)
    return (_reported if report else _without)(df, found, how)


# The names of a key by which rows are joined, and of the digests of a row: when it was compared, and now;
# and whether it goes.
_KEY, _DIGEST, _NOW, _GOES = "neardup_key", engines.DIGEST, "neardup_now", "neardup_goes"
_OTHER = f"raise_error('{engines.OTHER_ROWS}')"


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _exact(df: Any, name: str) -> Any:
    """Returns a column whose texts are equal, and sort, by their bytes, not by a collation."""
    is_text = df.schema[name].dataType.typeName() == "string"
    return import_module("pyspark.sql.functions").expr(f"collate({_quoted(name)}, 'UTF8_BINARY')" if is_text else _quoted(name)).alias(name)


def _digest(df: Any, how: engines.How) -> Any:
    return import_module("pyspark.sql.functions").xxhash64(_exact(df, how.id), _exact(df, how.text))


def _stored(df: Any) -> Any:
    """Returns rows that are computed now, and not again, of which two executors have each, since one may be lost."""
    return df.localCheckpoint(storageLevel=import_module("pyspark").StorageLevel.MEMORY_AND_DISK_2)


def _joined(df: Any, found: Any, how: engines.How, stays: str, new: str) -> Any:
    """Returns the rows for which an expression of what was found of them is true, or `new` where nothing was.  Fails if df
    gives other rows now: one that is found has another text, or, as another reading of the ids tells, is not there.  Rows
    are not shuffled if what was found is little."""
    functions = import_module("pyspark.sql.functions")
    size, count = found.selectExpr("coalesce(sum(24 + octet_length(string(id))), 0)", "count(*)").first()
    found = found.withColumnRenamed("id", _KEY)
    found = found.hint("broadcast") if size <= _BYTES_OF_IDS else found
    key = _exact(df, how.id).alias(_KEY)
    there = df.select(key).join(found, _KEY, "left_semi").agg(functions.count_distinct(_KEY).alias("n")).selectExpr(f"CASE WHEN n = {count} THEN true ELSE {_OTHER} END")
    rows = df.withColumns({_KEY: key, _NOW: _digest(df, how)}).join(found, _KEY, "left")
    same = f"CASE WHEN {_DIGEST} IS NULL THEN {new} WHEN {_DIGEST} = {_NOW} THEN {stays} ELSE {_OTHER} END"
    return rows.where(same).where(there.scalar()).drop(_KEY, _DIGEST, _NOW)


def _without(df: Any, found: Any, how: engines.How) -> Any:
    """Returns the rows that stay, by those that go, and those that stay for them."""
    return _joined(df, found.select("id", _DIGEST, _GOES), how, f"NOT {_GOES}", "true").drop(_GOES)


def _reported(df: Any, found: Any, how: engines.How) -> Any:
    """Returns all rows with what was found of each, in which ids have the type of theirs."""
    for name in {"keeper", "against"} & {*found.columns}:
        found = found.withColumn(name, found[name].cast(df.schema[how.id].dataType))
    return _joined(df, found.drop(_GOES), how, "true", _OTHER)


def _schema(types: dict[str, Any], **more: str) -> Any:
    """Returns a schema of columns and their types."""
    schema = import_module("pyspark.sql.types").StructType()
    for name, kind in {**types, **more}.items():
        schema = schema.add(name, kind)
    return schema


def _whole(stage: Callable[[Iterable[Any]], Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Yields what a stage makes of all batches of a task, if there are any."""
    if (first := next(iter(batches), None)) is not None:
        yield from stage(itertools.chain([first], batches)).to_batches(max_chunksize=1 << 16)


def _sign(how: engines.How, blocks: int, batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        yield from engines.sign(how, blocks, batch).to_batches()


def _signed(df: Any, how: engines.How, blocks: int) -> Any:
    df = df.select(*(_exact(df, name) for name in how.columns), _digest(df, how).alias(_DIGEST))
    types = {field.name: field.dataType for field in df.schema}
    more = {"block": "integer", "empty": "boolean"} if blocks > 1 else {}
    schema = _schema({**dict(zip(how.names, map(types.get, how.keys))), "value": types[how.text] if how.decide == "texts" else "binary"}, **more, **{_DIGEST: "long"})
    return df.mapInArrow(partial(_sign, how, blocks), schema)


def _in_one_task(df: Any, how: engines.How, report: bool) -> Any:
    """Returns what cluster() says, or only of the rows of clusters of two or more whether they go."""
    signed = _signed(df, how, 1)
    kind = signed.schema["id"].dataType
    found = signed.repartition(1).mapInArrow(partial(_whole, partial(engines.cluster, how)), _schema({"id": kind, "keeper": kind}, similarity="double", size="long", **{_DIGEST: "long"}))
    return _stored(found if report else found.where("size > 1").selectExpr("id", _DIGEST, f"keeper <> id AS {_GOES}"))


def _held(df: Any, against: Any, how: engines.How, blocks: int) -> Any:
    """Returns what hold() says: each task has all rows, and a block of `against`."""
    functions = import_module("pyspark.sql.functions")
    how = replace(how, order=())
    new, old = (_signed(frame, how, blocks) for frame in (df, against))
    if blocks > 1:
        new = new.withColumn("block", functions.explode(functions.sequence(functions.lit(0), functions.lit(blocks - 1))))
    both = new.withColumn("old", functions.lit(False)).unionByName(old.withColumn("old", functions.lit(True)))
    kind = both.schema["id"].dataType
    tasks = both.repartitionById(blocks, "block") if blocks > 1 else both.repartition(1)
    found = tasks.mapInArrow(partial(_whole, partial(engines.hold, how)), _schema({"id": kind, "against": kind}, similarity="double", **{_DIGEST: "long"}))
    first = "-similarity" if how.nearest else "0"
    best = functions.expr(f"min(struct({first} AS first, against, similarity))").alias("best")
    return found.groupBy("id", _DIGEST).agg(best).select("id", "best.against", "best.similarity", _DIGEST)


# ---- Blocks ----------------------------------------------------------------


def _join(how: engines.How, blocks: int, batches: Iterable[Any]) -> Iterator[Any]:
    a, b = engines.parts_of(blocks)[import_module("pyspark").TaskContext.get().partitionId()]
    yield from _whole(partial(engines.join, how, blocks, a, b), batches)


def _numbered(ordered: Any) -> Any:
    """Returns rows in order with their numbers, from 0, and refuses them if two have an id."""
    functions = import_module("pyspark.sql.functions")
    counts = dict(map(tuple, ordered.groupBy(functions.spark_partition_id()).count().collect()))
    firsts = [sum(counts.get(i, 0) for i in range(partition)) for partition in range(max(counts, default=0) + 1)]
    if ordered.select("id").distinct().count() != sum(counts.values()):
        raise ValueError("an id is in several rows: give each row its own")
    # The lower 33 bits are the place within the partition.
    row = functions.expr(f"get(array({', '.join(f'{first}L' for first in firsts)}), spark_partition_id()) + (monotonically_increasing_id() & {(1 << 33) - 1}L)")
    return ordered.withColumn("row", row)


def _by_blocks(df: Any, how: engines.How, blocks: int, report: bool) -> Any:
    """Returns what _in_one_task() does, by tasks of two blocks each.  A number stands for a row with its digest only: what
    is lost of the numbered rows is computed again."""
    functions = import_module("pyspark.sql.functions")
    # Both are read more than once.
    signed = _signed(df, how, blocks).persist()
    ordered = signed.orderBy(*how.names).select("id", "value", "block", "empty", _DIGEST).persist()
    try:
        numbered = _numbered(ordered)
        # The part of blocks a <= b has the place of (a, b) in parts_of().
        part = functions.expr(f"explode(transform(sequence(0, {blocks - 1}), y -> int(greatest(block, y) * (greatest(block, y) + 1) / 2 + least(block, y))))")
        tasks = numbered.select("row", "value", _DIGEST, part.alias("part")).repartitionById(blocks * (blocks + 1) // 2, "part")
        edges = tasks.mapInArrow(partial(_join, how, blocks), "a long, b long, similarity double, digest_a long, digest_b long")
        found = edges.repartition(1).mapInArrow(partial(_whole, partial(engines.keep, how)), f"row long, keeper long, similarity double, size long, {_DIGEST} long")
        rows = numbered.select("row", "id", "empty", functions.col(_DIGEST).alias(_NOW))
        found = _stored(rows.join(found, "row", "right").where(f"CASE WHEN {_DIGEST} <=> {_NOW} THEN true ELSE {_OTHER} END"))
        if not report:
            return found.selectExpr("id", _DIGEST, f"keeper <> row AS {_GOES}")
        names = found.where("row = keeper").selectExpr("keeper", "id AS name")
        named = found.join(names, "keeper").selectExpr("row", "name AS keeper", "similarity", "size", _DIGEST)
        return _stored(rows.join(named, "row", "left").where(f"CASE WHEN coalesce({_DIGEST}, {_NOW}) = {_NOW} THEN true ELSE {_OTHER} END").selectExpr(
            "id", "CASE WHEN NOT empty THEN coalesce(keeper, id) END AS keeper", "CASE WHEN empty THEN 0 ELSE coalesce(similarity, 1) END AS similarity",
            "CASE WHEN NOT empty THEN coalesce(size, 1) END AS size", f"{_NOW} AS {_DIGEST}"))
    finally:
        ordered.unpersist()
        signed.unpersist()
