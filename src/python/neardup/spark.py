"""neardup on Apache Spark, 4.0 or later: neardup.spark.dedupe()."""

from collections.abc import Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

from . import _engines as engines
from ._library import DEFAULT
from ._signing import Lexicon

_REPORT = ["keeper", "similarity", "size"]


def dedupe(df: Any, threshold: float = DEFAULT.threshold, *, text: str, id: str, order: Any, report: bool = False,
           blocks: int | None = None, k: int = DEFAULT.k, b: int = DEFAULT.b, scheme: str | None = None,
           lexicon: Lexicon | None = None, nearest: bool = False, memory: int = 0) -> Any:
    """Returns the rows of a DataFrame that stay when near-duplicates go: the first of each cluster in the order of the
    column `order`, or of several, then of `id`, and those without a text.

    It is, row by row, what neardup_clusters() of PostgreSQL says, ORDER BY these columns, COLLATE "C".  Each row has an id
    of its own; a null in these columns is an error.  With report=True all rows come out, with the id of their keeper
    (null without a text), their similarity to it, and the size of the cluster.

    One task compares all rows if they are at most 50 million; otherwise, or with `blocks`, blocks * (blocks + 1) / 2 tasks
    compare those of two blocks.  memory is about how many bytes each may take, beside its rows; 0 is half of the
    machine's.  df is evaluated twice or more, so it should give the same rows each time.  The other arguments are those of
    neardup.dedupe()."""
    how = engines.how_of(text, id, order, df.columns, threshold=threshold, k=k, b=b, scheme=scheme, lexicon=lexicon,
                         nearest=nearest, memory=memory)
    if report and (taken := {*_REPORT} & {*df.columns}):
        raise ValueError(f"the table has a column {min(taken)!r} already")
    selected = df.select(*how.keys, *({text} - {*how.keys}))
    types = {field.name: field.dataType for field in df.schema}
    signed = selected.mapInArrow(partial(engines.sign, how), _schema(dict(zip(how.names, map(types.get, how.keys))), signature="binary"))
    count = engines.block_count(df.count() if blocks is None else 0, blocks)
    if count == 1:
        ordered = signed.repartition(1).sortWithinPartitions(*how.names)
        found = ordered.mapInArrow(partial(engines.cluster, how), _schema({"id": types[id], "keeper": types[id]}, similarity="double", size="long"))
    else:
        found = _by_blocks(signed, how, count)
    found = found.withColumnRenamed("id", id)
    if report:
        return df.join(found, id)
    return df.join(found.where(found["keeper"] != found[id]).select(id), id, "left_anti")


def _schema(types: dict[str, Any], **more: str) -> Any:
    """Returns a schema of columns and their types."""
    schema = import_module("pyspark.sql.types").StructType()
    for name, kind in {**types, **more}.items():
        schema = schema.add(name, kind)
    return schema


# ---- Blocks ----------------------------------------------------------------


def _partition() -> int:
    number: int = import_module("pyspark").TaskContext.get().partitionId()
    return number


def _count(batches: Iterable[Any]) -> Iterator[Any]:
    """Yields the number of a partition, and of its rows."""
    pyarrow = import_module("pyarrow")
    rows = sum(batch.num_rows for batch in batches)
    yield pyarrow.RecordBatch.from_pydict({"partition": pyarrow.array([_partition()], "int64"), "rows": pyarrow.array([rows], "int64")})


def _number(how: engines.How, blocks: int, first: dict[int, int], batches: Iterable[Any]) -> Iterator[Any]:
    return engines.number(how, blocks, first[_partition()], batches)


def _by_blocks(signed: Any, how: engines.How, blocks: int) -> Any:
    """Returns what cluster() does, by tasks of two blocks each."""
    functions = import_module("pyspark.sql.functions")
    ordered = signed.orderBy(*how.names).persist()
    first, rows = {}, 0
    for partition, count in sorted(map(tuple, ordered.mapInArrow(_count, "partition long, rows long").collect())):
        first[partition], rows = rows, rows + count
    if ordered.select("id").distinct().count() != rows:
        raise ValueError("an id is in several rows: give each row its own")
    numbered = ordered.mapInArrow(partial(_number, how, blocks, first),
                                  _schema({"row": "long", "id": signed.schema["id"].dataType}, empty="boolean", signature="binary", block="long"))
    parts = engines.parts_of(blocks)

    def join(key: Any, table: Any) -> Any:
        a, b = parts[int(key[0].as_py())]
        return engines.join(how, blocks, a, b, table)

    # The part of blocks a <= b has the place of (a, b) in parts.
    part = functions.expr(f"explode(transform(sequence(0, {blocks - 1}), y -> int(greatest(block, y) * (greatest(block, y) + 1) / 2 + least(block, y))))")
    edges = numbered.select("row", "signature", part.alias("part")).groupBy("part").applyInArrow(join, "a long, b long, similarity double")
    found = edges.repartition(1).mapInArrow(partial(engines.keep, how), "row long, keeper long, similarity double").persist()
    sizes = found.groupBy("keeper").count()
    keepers = numbered.select(functions.col("row").alias("keeper"), functions.col("id").alias("of"))
    rows_of = numbered.select("row", "id", "empty").join(found, "row", "left")
    rows_of = rows_of.withColumn("keeper", functions.expr("CASE WHEN NOT empty THEN coalesce(keeper, row) END"))
    rows_of = rows_of.join(sizes, "keeper", "left").join(keepers, "keeper", "left")
    return rows_of.selectExpr("id", "of AS keeper", "CASE WHEN empty THEN 0 ELSE coalesce(similarity, 1) END AS similarity",
                              "CASE WHEN NOT empty THEN coalesce(count, 0) + 1 END AS size")
