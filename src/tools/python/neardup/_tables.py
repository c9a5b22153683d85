"""Tables of the packages that people have, without which this one works."""

import bisect
import contextlib
import itertools
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence, ValuesView
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from . import _arrow
from ._joining import NO_KEEPER, Kept, keep
from ._library import DEFAULT
from ._passages import check_arguments, cuts_of
from ._signing import Lexicon, Progress, minhash, minhash_decided
from ._signing import shingles as make_shingles
from ._values import Values, compare, first_of, names_of


class _Table(NamedTuple):
    """What is done with a table of some package: its names, and the types of its columns; a column as minhash() takes it,
    and some items of it, where a place may be None, for null; the table of some rows, and with more columns, which are
    lists, columns of Arrow, or items of a column of the package; and with other texts in a column, at some places."""

    names: Callable[[Any], list[Any]]
    types: Callable[[Any], Sequence[Any]]
    column: Callable[[Any, Any], Any]
    pick: Callable[[Any, Any, Sequence[int | None]], Any]
    take: Callable[[Any, list[int]], Any]
    extend: Callable[[Any, dict[str, Any]], Any]
    edit: Callable[[Any, Any, dict[int, Any]], Any]


def _names(table: Any) -> list[Any]:
    return names_of(table) or []


# ---- Packages --------------------------------------------------------------


def _plain(kind: Any) -> Any:
    """Returns a type of which pyarrow chooses rows, for one with views within, of which it does not."""
    pyarrow = import_module("pyarrow")
    types = pyarrow.types
    if types.is_fixed_size_list(kind):
        return pyarrow.list_(kind.value_field.with_type(_plain(kind.value_type)), kind.list_size)
    for is_kind, make in (types.is_list, pyarrow.list_), (types.is_large_list, pyarrow.large_list):
        if is_kind(kind):
            return make(kind.value_field.with_type(_plain(kind.value_type)))
    if types.is_struct(kind):
        return pyarrow.struct([field.with_type(_plain(field.type)) for field in kind])
    return {pyarrow.string_view(): pyarrow.large_utf8(), pyarrow.binary_view(): pyarrow.large_binary()}.get(kind, kind)


def _chosen(column: Any, choose: Callable[[Any], Any], name: str = "of texts") -> Any:
    """Returns the rows of a column that a function of it chooses."""
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    kind = column.type
    try:
        if pyarrow.types.is_run_end_encoded(kind):
            return compute.run_end_encode(_chosen(compute.run_end_decode(column), choose, name), run_end_type=kind.run_end_type)
        plain = _plain(kind)
        return choose(column) if plain == kind else choose(column.cast(plain)).cast(kind)
    except pyarrow.ArrowNotImplementedError:
        raise TypeError(f"pyarrow cannot choose rows of the column {name}, whose type is {kind}: cast it first") from None


def pyarrow_take(table: Any, numbers: list[int]) -> Any:
    pyarrow = import_module("pyarrow")
    stays = bytearray(len(table))
    for number in numbers:
        stays[number] = 1
    mask = pyarrow.array(map(bool, stays), pyarrow.bool_())

    def choose(column: Any) -> Any:
        # take() joins chunks, of which one has at most 2 GB.
        return column.filter(mask)

    if not hasattr(table, "schema"):
        return _chosen(table, choose)
    columns = [_chosen(column, choose, repr(name)) for name, column in zip(table.column_names, table.columns)]
    return type(table).from_arrays(columns, schema=table.schema)


def _pyarrow_pick(table: Any, name: str, places: Sequence[int | None]) -> Any:
    pyarrow = import_module("pyarrow")
    return _chosen(table.column(name), lambda column: column.take(pyarrow.array(places, pyarrow.int64())), repr(name))


def _pyarrow_extend(table: Any, columns: dict[str, Any]) -> Any:
    for name, items in columns.items():
        column = _arrow_of(items)
        table = table.append_column(name, column.combine_chunks() if type(table).__name__ == "RecordBatch" and hasattr(column, "chunks") else column)
    return table


def pyarrow_edit(table: Any, name: str, texts: dict[int, Any]) -> Any:
    pyarrow, place, chunks = import_module("pyarrow"), 0, []
    field = table.schema.field(name)
    kind = field.type
    for chunk in getattr(table.column(name), "chunks", [table.column(name)]):
        mine = {i - place: texts[i] for i in range(place, place + len(chunk)) if i in texts}
        place += len(chunk)
        if mine:
            items = [mine.get(i, item) for i, item in enumerate(chunk.to_pylist())]
            plain = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
            chunk = pyarrow.array(items, plain).cast(kind)
        chunks.append(chunk)
    column = pyarrow.chunked_array(chunks, kind)
    return table.set_column(table.schema.get_field_index(name), field, column.combine_chunks() if type(table).__name__ == "RecordBatch" else column)


def _arrow_of(items: Any) -> Any:
    """Returns items as a column of pyarrow."""
    pyarrow = import_module("pyarrow")
    if isinstance(items, (pyarrow.Array, pyarrow.ChunkedArray)):
        return items
    return pyarrow.chunked_array(items) if hasattr(items, "__arrow_c_stream__") else pyarrow.array(items, from_pandas=not isinstance(items, list))


def _polars_edit(table: Any, name: str, texts: dict[int, Any]) -> Any:
    polars = import_module("polars")
    items = [texts.get(i, item) for i, item in enumerate(table[name].to_list())]
    return table.with_columns(polars.Series(name, items, dtype=table[name].dtype))


def _polars_extend(table: Any, columns: dict[str, Any]) -> Any:
    polars = import_module("polars")
    return table.with_columns([polars.Series(name, items) for name, items in columns.items()])


def _pandas_types(table: Any) -> list[Any]:
    """Returns the types of columns; those of other categories are the same."""
    return [f"{kind}, ordered={kind.ordered}" if hasattr(kind, "categories") else kind for kind in table.dtypes]


def _pandas_pick(table: Any, name: Any, places: Sequence[int | None]) -> Any:
    pandas, column = import_module("pandas"), table[name]
    nulls = [place is None for place in places]
    if True in nulls and getattr(column.dtype, "kind", "") in "iub" and not hasattr(column.dtype, "na_value"):
        # Only its own types of integers have nulls: those of numpy would become floats.
        items = pandas.array(column.to_numpy().take([place or 0 for place in places])) if len(column) else pandas.array([pandas.NA] * len(places), "Int64")
        items[nulls] = pandas.NA
        return items
    # An empty list would be one of floats.
    return column.array.take(import_module("numpy").array([-1 if place is None else place for place in places], int), allow_fill=True)


def _pandas_edit(table: Any, name: Any, texts: dict[int, Any]) -> Any:
    pandas, column = import_module("pandas"), table[name]
    items = [texts.get(i, item) for i, item in enumerate(column)]
    made = pandas.Series(items, column.index, getattr(column.dtype, "categories", column).dtype, name=name)
    return table.assign(**{name: made.astype("category") if hasattr(column.dtype, "categories") else made})


def _pandas_extend(table: Any, columns: dict[str, Any]) -> Any:
    pandas = import_module("pandas")

    def items_of(items: Any) -> Any:
        if isinstance(items, list):
            # With None, integers would become floats.
            return pandas.array(items) if None in items else items
        return pandas.arrays.ArrowExtensionArray(items) if hasattr(items, "to_pylist") else items

    return table.assign(**{name: items_of(items) for name, items in columns.items()})


def _dataset_column(table: Any, name: str) -> Any:
    return _arrow.Chunks(batch[name] for batch in table.select_columns([name]).with_format("arrow").iter(1000))


class _Featured(NamedTuple):
    """Items of a column of a dataset, and its feature."""

    items: Any
    feature: Any

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.items.__arrow_c_stream__(requested_schema)


def _dataset_pick(table: Any, name: str, places: Sequence[int | None]) -> _Featured:
    return _Featured(_pyarrow_pick(table.select_columns([name]).with_format("arrow")[:], name, places), table.features[name])


def _dataset_extend(table: Any, columns: dict[str, Any]) -> Any:
    datasets, pyarrow = import_module("datasets"), import_module("pyarrow")
    for name, items in columns.items():
        more = pyarrow.table({name: items.items if isinstance(items, _Featured) else _arrow_of(items)})
        features = datasets.Features({name: items.feature}) if isinstance(items, _Featured) else None
        table = datasets.concatenate_datasets([table, datasets.Dataset(more, info=datasets.DatasetInfo(features=features))], axis=1)
    return table


def _dataset_edit(table: Any, name: str, texts: dict[int, Any]) -> Any:
    datasets = import_module("datasets")
    return datasets.Dataset(pyarrow_edit(table.with_format("arrow")[:], name, texts), info=datasets.DatasetInfo(features=table.features))


def _rows_edit(rows: Any, name: str, texts: dict[int, Any]) -> Any:
    return [{**row, name: texts[i]} if i in texts else row for i, row in enumerate(rows)]


def _rows_extend(rows: Any, columns: dict[str, Any]) -> Any:
    lists = [items.to_pylist() if hasattr(items, "to_pylist") else items for items in columns.values()]
    return [{**row, **dict(zip(columns, items))} for row, items in zip(rows, zip(*lists))]


_PYARROW = _Table(_names, lambda t: t.schema.types, lambda t, n: t.column(n), _pyarrow_pick, pyarrow_take, _pyarrow_extend, pyarrow_edit)
_PACKAGES = {
    "pyarrow": _PYARROW,
    "polars": _Table(_names, lambda t: t.dtypes, lambda t, n: t[n], lambda t, n, i: t[n].gather(i), lambda t, i: t[i], _polars_extend, _polars_edit),
    "pandas": _Table(_names, _pandas_types, lambda t, n: t[n], _pandas_pick, lambda t, i: t.iloc[i], _pandas_extend, _pandas_edit),
    "datasets": _Table(_names, lambda t: list(t.features.values()), _dataset_column, _dataset_pick, lambda t, i: t.select(i), _dataset_extend, _dataset_edit),
}
_ROWS = _Table(lambda t: list(dict.fromkeys(name for row in t for name in row)), lambda t: [], lambda t, n: [row.get(n) for row in t],
               lambda t, n, i: [None if place is None else t[place].get(n) for place in i], lambda t, i: [t[number] for number in i], _rows_extend, _rows_edit)


# ---- DuckDB ----------------------------------------------------------------


class _Relation:
    """A relation whose rows wait in a temporary table of its connection, since a relation is a query, which may give other
    rows the next time.  The table is dropped, unless its rows are given out."""

    def __init__(self, source: Any, rows: str = "SELECT * FROM neardup_relation", **numbers: Any) -> None:
        self.name, self._given = f"neardup_{uuid.uuid4().hex}", False
        self._relation: Any = source._relation if isinstance(source, _Relation) else source
        self.query(f"CREATE TEMP TABLE {self.name} AS {rows}", **numbers)
        self._rows = self.query(f"SELECT * FROM {self.name}")
        self.columns, self.types = list(self._rows.columns), list(self._rows.types)

    def __del__(self) -> None:
        if not self._given:
            with contextlib.suppress(Exception):
                self.query(f"DROP TABLE IF EXISTS {self.name}")

    def query(self, sql: str, **numbers: Any) -> Any:
        """Runs a statement, in which neardup_relation is the relation, and neardup_numbers a table of these columns."""
        # DuckDB finds it by the name of the variable.
        neardup_numbers = import_module("pyarrow").table(numbers)  # noqa: F841
        return self._relation.query("neardup_relation", sql)

    def give(self) -> Any:
        self._given = True
        return self._rows

    def has(self, name: str) -> bool:
        """Returns whether a temporary table is in the same connection."""
        return bool(self.query(f"SELECT 1 FROM duckdb_tables() WHERE table_name = '{name}'").fetchall())


class _Picked(NamedTuple):
    """Items of a column of a relation."""

    table: _Relation
    column: str
    places: Sequence[int | None]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        sql = f"SELECT t.{self.column} FROM neardup_numbers AS n LEFT JOIN {self.table.name} AS t ON t.rowid = n.place ORDER BY n.number"
        return self.table.query(sql, number=range(len(self.places)), place=_places(self.places)).to_arrow_table().column(0).__arrow_c_stream__()


def _places(places: Sequence[int | None]) -> Any:
    pyarrow = import_module("pyarrow")
    return pyarrow.array(places, pyarrow.int64())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _duckdb_take(table: _Relation, numbers: list[int]) -> _Relation:
    rows = f"SELECT t.* FROM {table.name} AS t JOIN neardup_numbers AS n ON t.rowid = n.number ORDER BY n.number"
    return _Relation(table, rows, number=_places(numbers))


def _duckdb_extend(table: _Relation, columns: dict[str, Any]) -> _Relation:
    some, joins, numbers = [], [], {}
    for i, (name, items) in enumerate(columns.items()):
        if isinstance(items, _Picked) and table.has(items.table.name):
            numbers[f"c{i}"] = _places(items.places)
            joins.append(f"LEFT JOIN {items.table.name} AS t{i} ON t{i}.rowid = n.c{i}")
            some.append(f"t{i}.{items.column} AS {name}")
        else:
            numbers[f"c{i}"] = _arrow_of(items)
            some.append(f"n.c{i} AS {name}")
    count = len(next(iter(numbers.values())))
    return _Relation(table, f"SELECT t.*, {', '.join(some)} FROM {table.name} AS t JOIN neardup_numbers AS n ON t.rowid = n.number {' '.join(joins)} ORDER BY n.number",
                     number=_places(range(count)), **numbers)


def _duckdb_edit(table: _Relation, name: str, texts: dict[int, Any]) -> _Relation:
    column = _quoted(name)
    rows = (f"SELECT t.* REPLACE (CASE WHEN n.number IS NULL THEN t.{column} ELSE n.text END AS {column}) "
            f"FROM {table.name} AS t LEFT JOIN neardup_numbers AS n ON t.rowid = n.number ORDER BY t.rowid")
    return _Relation(table, rows, number=_places(list(texts)), text=import_module("pyarrow").array(list(texts.values())))


_DUCKDB = _Table(lambda t: t.columns, lambda t: t.types, lambda t, n: t.query(f"SELECT {_quoted(n)} FROM {t.name} ORDER BY rowid").to_arrow_table().column(0),
                 lambda t, n, i: _Picked(t, _quoted(n), i), _duckdb_take, _duckdb_extend, _duckdb_edit)


def _by_pyarrow(table: Any, package: str) -> Any:
    """Returns a table as one of pyarrow, and what makes the table of a package of that."""
    pyarrow = import_module("pyarrow")
    if package == "daft":
        daft = import_module("daft")
        return table.to_arrow(), daft.from_arrow
    if isinstance(table, pyarrow.RecordBatchReader):
        return table.read_all(), lambda result: result.to_reader()
    return pyarrow.table(table), lambda result: result


# ---- Recognition -----------------------------------------------------------


def _package_of(thing: Any) -> str:
    """Returns the package that a class of something is from, if it is one that we know."""
    packages = [cls.__module__.partition(".")[0].lstrip("_") for cls in type(thing).__mro__]
    return next((name for name in packages if name in (*_PACKAGES, "duckdb", "daft")), packages[0])


def _refuse(records: Any, why: str) -> NoReturn:
    raise TypeError(f"dedupe() takes a table with text=, or a list or a column of texts or values, not {type(records).__name__}: {why}")


def _check_records(records: Any) -> None:
    """Refuses what has other things to iterate over than records."""
    if isinstance(records, str) or hasattr(records, "__fspath__"):
        _refuse(records, 'read a file first, such as pyarrow.parquet.read_table("in.parquet"), or give texts in a list')
    if isinstance(records, bytes):
        _refuse(records, "give values in a list")
    if isinstance(records, dict):
        _refuse(records, "give one of its tables, or pyarrow.table(...) of columns")
    if hasattr(records, "collect") and hasattr(records, "lazy"):
        _refuse(records, "call collect() first")
    if type(records).__name__ == "IterableDataset":
        _refuse(records, "load it without streaming")


class _Opened(NamedTuple):
    """A table, what is done with it, and what makes the table that comes out."""

    how: _Table
    table: Any
    back: Callable[[Any], Any]


def _open(records: Any, text: Any, *more: Any) -> _Opened | None:
    """Returns records that are a table; None if they are a column or a list."""
    package, rows = _package_of(records), isinstance(records, (list, tuple)) and isinstance(first_of(itertools.chain(records, [] if text is None else [{}])), Mapping)
    found = _ROWS.names(records) if rows else names_of(records)
    if found and text is None:
        _refuse(records, f"name the column of the texts with text=: the columns are {', '.join(map(repr, found))}")
    if rows:
        opened = _Opened(_ROWS, records, lambda result: result)
    elif found is None and (text is None or not _arrow.has_interface(records)):
        return None
    elif package in _PACKAGES and type(records).__name__ != "RecordBatchReader":
        opened = _Opened(_PACKAGES[package], records, lambda result: result)
    elif package == "duckdb":
        opened = _Opened(_DUCKDB, _Relation(records), _Relation.give)
    elif _arrow.has_interface(records):
        opened = _Opened(_PYARROW, *_by_pyarrow(records, package))
    else:
        _refuse(records, "it has no __arrow_c_stream__; make it a table of pyarrow first")
    names = opened.how.names(opened.table)
    for name in text, *more:
        if name is not None and name not in names and names:
            raise ValueError(f"there is no column {name!r}: the columns are {', '.join(map(repr, names))}")
    return opened


def _are_values(records: Any) -> bool:
    """Returns whether records are values, not texts."""
    if isinstance(records, (list, tuple)):
        first = first_of(records)
        return isinstance(first, (bytes, bytearray, memoryview)) or hasattr(first, "ndim") and not isinstance(first, str)
    if isinstance(records, Values) or _arrow.has_interface(records):
        return isinstance(records, Values) or not _arrow.has_texts(records)
    return getattr(records, "ndim", 1) == 2


def _take(records: Any, numbers: list[int]) -> Any:
    """Returns some texts of a list or a column, as they came."""
    package = _package_of(records)
    if isinstance(records, (list, tuple)):
        return type(records)(records[i] for i in numbers)
    if package == "daft":
        return type(records).from_arrow(pyarrow_take(records.to_arrow(), numbers))
    if package == "datasets":
        return [records[i] for i in numbers]
    return _PACKAGES[package].take(records, numbers) if package in _PACKAGES else records[numbers]


# ---- Deduplication ---------------------------------------------------------


# The columns of a report.
_REPORT = {"keeper", "similarity", "size", "against", "estimate"}


def _estimates(values: Values, keepers: Sequence[int], others: Values) -> list[float]:
    """Returns the estimates of rows and their keepers.  A value that is like no other need not have been made."""
    return [0.0 if keeper == NO_KEEPER else 1.0 if others is values and keeper == i else compare(values[i], others[keeper]).similarity
            for i, keeper in enumerate(keepers)]


def _report(kept: Kept, ids: Callable[[list[int | None]], Any], against_ids: Callable[[list[int | None]], Any], values: Values, others: Values | None) -> dict[str, Any]:
    """Returns the columns of a report; `ids` and `against_ids` return the ids at some places."""
    keepers, similarities = kept.clusters
    sizes = Counter(keepers)
    columns: dict[str, Any] = {
        "keeper": ids(_places_of(keepers)),
        "similarity": list(similarities) if kept.held is None else list(map(max, similarities, kept.held.similarity)),
        "size": [None if keeper == NO_KEEPER else sizes[keeper] for keeper in keepers]}
    if kept.held is not None:
        columns["against"] = against_ids(_places_of(kept.held.keeper))
    if values.many.evidence:
        columns["estimate"] = _estimates(values, keepers, values)
        if kept.held is not None and others is not None:
            columns["estimate"] = list(map(max, columns["estimate"], _estimates(values, kept.held.keeper, others)))
    return columns


def _places_of(keepers: Sequence[int]) -> list[int | None]:
    return [None if keeper == NO_KEEPER else keeper for keeper in keepers]


def _ids_of(opened: _Opened | None, id: Any, how: _Table) -> Callable[[list[int | None]], Any]:
    """Returns what returns the ids at some places of a table, for one of another package as a column of Arrow; without a
    column of ids, the places."""
    if opened is None or id is None or id not in opened.how.names(opened.table):
        return lambda places: places

    def pick(places: list[int | None]) -> Any:
        items = opened.how.pick(opened.table, id, places)
        return items if opened.how is how or isinstance(items, list) else _arrow_of(items)
    return pick


def _checked(opened: _Opened, made: Any) -> Any:
    """Returns the table that comes out, whose columns have to be those that came in."""
    names, was, now = (opened.how.names(opened.table), *(list(opened.how.types(table)) for table in (opened.table, made)))
    for name, before, after in zip(names, was, now):
        if before != after:
            raise TypeError(f"the column {name!r} would come out as another one, of the type {after}, not {before}: cast it first")
    return opened.back(made)


def shape_of(k: int | None, b: int | None, decide: str) -> tuple[int, int]:
    """Returns the shape of the minhashes by which dedupe() compares texts."""
    decided = decide == "texts" and k is None and b is None
    usual = (DEFAULT.decided_k, DEFAULT.decided_b) if decided else (DEFAULT.k, DEFAULT.b)
    return usual[0] if k is None else k, usual[1] if b is None else b


def make_values(texts: Any, *, k: int | None, b: int | None, scheme: str | None, lexicon: Lexicon | None, shingles: bool, decide: str,
                threshold: float | None, jobs: int, progress: Progress = None) -> Values:
    """Makes the values of texts by which dedupe() compares them; by containment, threshold is None."""
    made: Values
    k, b = shape_of(k, b, decide)
    if shingles:
        made = make_shingles(texts, scheme=scheme, lexicon=lexicon, jobs=jobs, progress=progress)
    elif decide == "texts":
        made = minhash_decided(texts, k, b, scheme, lexicon, threshold, jobs, progress)
    else:
        made = minhash(texts, k=k, b=b, scheme=scheme, lexicon=lexicon, jobs=jobs, progress=progress)
    return made


def _items(column: Any) -> Iterator[Any]:
    """Yields the items of a column; few of Arrow's are objects of Python at a time."""
    if isinstance(column, _arrow.Chunks):
        for part in column.parts:
            yield from _items(part)
    elif hasattr(column, "to_pylist") or not hasattr(column, "__iter__"):
        array = _arrow_of(column)
        for i in range(0, len(array), 1000):
            yield from array.slice(i, 1000).to_pylist()
    else:
        yield from column


def _common(share: float, source: Any, text: Any, scheme: str | None, *sides: tuple[Any, _Opened | None]) -> Lexicon | None:
    """Returns the lexicon of what many texts of some sides have, or None if there is no such thing.  The first side has sources."""
    texts = (_items(side if opened is None else opened.how.column(opened.table, text)) for side, opened in sides
             if side is not None and (opened is not None or not _are_values(side)))
    first = sides[0][1]
    sources = () if first is None or source is None else _items(first.how.column(first.table, source))
    lexicon = Lexicon.common(itertools.chain.from_iterable(texts), share, itertools.chain(sources, itertools.repeat(None)), scheme)
    return lexicon if ":" in str(lexicon) else None


def _without_passages(opened: _Opened | None, records: Any, text: Any, sides: tuple[Any, Any], min_run: int, min_left: int, mark: bool, jobs: int, memory: int) -> Any:
    """Returns the records without words that stood before, or with `mark` these words."""
    if opened is None and not isinstance(records, (list, tuple)):
        _refuse(records, "passages are removed from tables with text=, and from lists of texts")
    check_arguments(min_run, min_left)
    count, found = cuts_of(*sides, min_run, jobs, memory)
    cuts = list(found)
    if mark:
        return [passage for cut in cuts for passage in cut.passages]
    gone = [cut.record for cut in cuts if cut.left < min_left]
    cuts = [cut for cut in cuts if cut.left >= min_left]
    some = [records[cut.record] for cut in cuts] if opened is None else opened.how.pick(opened.table, text, [cut.record for cut in cuts])
    items = some if isinstance(some, list) else _arrow_of(getattr(some, "items", some)).to_pylist()
    texts = {cut.record - bisect.bisect(gone, cut.record): cut.of(item) for cut, item in zip(cuts, items)}
    stay = sorted({*range(count)}.difference(gone))
    if opened is None:
        return type(records)(texts.get(i, records[number]) for i, number in enumerate(stay))
    made = opened.how.take(opened.table, stay)
    return _checked(opened, opened.how.edit(made, text, texts) if texts else made)


def dedupe(records: Any, threshold: float = DEFAULT.threshold, *, text: Any = None, id: Any = None,
           report: bool = False, against: Any = None, k: int | None = None, b: int | None = None, scheme: str | None = None,
           lexicon: Lexicon | None = None, common: float | None = None, source: Any = None, shingles: bool = False,
           multiset: bool = False, containment: bool = False, nearest: bool = False, decide: str | None = None,
           contained: float | None = None, unit: str = "record", min_run: int = 50, min_left: int = 1, mark: bool = False,
           jobs: int = 1, memory: int = 0, progress: Progress = None) -> Any:
    """Returns what stays of records when near-duplicates go: the first of each cluster, and those without a text.

    records is a table, whose column `text` has the texts: of pyarrow, Polars, pandas, DuckDB, daft or Hugging Face's
    datasets, or a list of dicts; or the texts (str) in a list or a column.  What comes in comes out.  Of values, made by
    minhash() and its like, their numbers come out.  Records similar to one of `against` go first: a table with such a
    column, or texts or values.

    With report=True all rows come out, with columns more: keeper, its own id if a row stays, null if it has no text;
    similarity to the keeper; size, how many rows have this keeper; with `against` the id of the similar record there; and
    estimate, the similarity by signatures, if texts decide.  Ids are those of the column `id`, or numbers from 0.

    With `common`, a share, what at least this share of the distinct texts has, or of those of one value in the column
    `source`, and at least 20, is left out of all texts, as by the lexicon Lexicon.common(), unless a text has nothing else.

    minhash() signs texts, with k, b (192 and 2, if the texts decide), scheme and lexicon; with shingles=True, multiset or containment shingles()
    does.  Of those whose minhashes may reach the threshold, the shingles of the texts decide; with decide="signatures", or
    where one side has only values, the estimate does.  With `contained`, a share, a record goes if at least this share of its shingles is in the one
    that stays; the threshold says which are looked at.  The other arguments are those of clusters() and minhash().

    With unit="passage", runs of at least min_run words that stood before go from the texts of a table or a list, or with `against` only
    those that stand there; so do records that keep fewer than min_left words.  mark=True returns the passages, and removes nothing.
    Of the other arguments, text, jobs and memory count."""
    if unit not in ("record", "passage"):
        raise ValueError(f'unit is "record" or "passage", not {unit!r}')
    if decide not in (None, "texts", "signatures"):
        raise ValueError(f'decide is "texts" or "signatures", not {decide!r}')

    def values_of(side: Any, opened: _Opened | None) -> Values:
        if opened is None and _are_values(side):
            return Values.of(side)
        texts = side if opened is None else opened.how.column(opened.table, text)
        return make_values(texts, k=k, b=b, scheme=scheme, lexicon=lexicon, shingles=shingles or multiset or containment, decide=way,
                           threshold=threshold if contained is None else None, jobs=jobs, progress=progress)

    records, against = _listed(records), None if against is None else _listed(against)
    opened = _open(records, text, id, source)
    if opened is None and (text is not None or id is not None or report):
        _refuse(records, "text=, id= and report= are of tables, which have columns")
    if opened is not None and report and (taken := _REPORT & {*opened.how.names(opened.table)}):
        raise ValueError(f"the table has a column {min(taken)!r} already")
    if unit == "passage":
        other = None if against is None else _open(against, text)
        sides = (records if opened is None else opened.how.column(opened.table, text),
                 against if other is None else other.how.column(other.table, text))
        return _without_passages(opened, records, text, sides, min_run, min_left, mark, jobs, memory)
    numbers = opened is None and _are_values(records)
    other = None if against is None else _open(against, text)
    only_values = numbers or against is not None and other is None and _are_values(against)
    way = "signatures" if only_values else decide or "texts"
    if common is not None:
        if lexicon is not None or only_values:
            raise ValueError("common= is of texts, and makes a lexicon of its own")
        if multiset:
            raise ValueError("common= compares sets, not multisets")
        lexicon = _common(common, source, text, scheme, (records, opened), (against, other))
    elif source is not None:
        raise ValueError("source= is for common=")
    values, others = values_of(records, opened), None if against is None else values_of(against, other)
    if decide == "texts" and only_values and not values.many.evidence:
        raise TypeError("texts cannot decide where one side has only values")
    kept = keep(values, threshold, others, multiset=multiset, containment=containment, nearest=nearest, contained=contained,
                jobs=jobs, memory=memory)
    if opened is None:
        return kept.stay if numbers else _take(records, kept.stay)
    if not report:
        return _checked(opened, opened.how.take(opened.table, kept.stay))
    columns = _report(kept, _ids_of(opened, id, opened.how), _ids_of(other, id, opened.how), values, others)
    return _checked(opened, opened.how.extend(opened.table, columns))


def _listed(records: Any) -> Any:
    """Returns records, in a list if they come one by one."""
    _check_records(records)
    if _arrow.has_interface(records) or isinstance(records, (list, tuple, Values)) or _package_of(records) in _PACKAGES:
        return records
    if isinstance(records, (Iterator, KeysView, ValuesView)):
        return list(records)
    return records if hasattr(records, "ndim") or names_of(records) else _refuse(records, "put them in a list")
