"""Tables of the packages that people have, without which this one works."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence, ValuesView
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from . import _arrow
from ._joining import NO_KEEPER, Kept, keep
from ._library import DEFAULT
from ._signing import Lexicon, Progress, minhash, minhash_decided
from ._signing import shingles as make_shingles
from ._values import Values, compare, first_of, names_of


class _Table(NamedTuple):
    """What is done with a table of some package: its names, a column as minhash() takes it and as a list, the table of
    some rows, and with more columns, which are lists."""

    names: Callable[[Any], list[Any]]
    column: Callable[[Any, Any], Any]
    items: Callable[[Any, Any], list[Any]]
    take: Callable[[Any, list[int]], Any]
    extend: Callable[[Any, dict[str, list[Any]]], Any]


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


def _chosen(column: Any, mask: Any, name: str = "of texts") -> Any:
    """Returns the rows of a column that a mask has."""
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    kind = column.type
    try:
        if pyarrow.types.is_run_end_encoded(kind):
            return compute.run_end_encode(_chosen(compute.run_end_decode(column), mask, name), run_end_type=kind.run_end_type)
        plain = _plain(kind)
        # take() joins chunks, of which one has at most 2 GB.
        return column.filter(mask) if plain == kind else column.cast(plain).filter(mask).cast(kind)
    except pyarrow.ArrowNotImplementedError:
        raise TypeError(f"pyarrow cannot choose rows of the column {name}, whose type is {kind}: cast it first") from None


def pyarrow_take(table: Any, numbers: list[int]) -> Any:
    pyarrow = import_module("pyarrow")
    stays = bytearray(len(table))
    for number in numbers:
        stays[number] = 1
    mask = pyarrow.array(map(bool, stays), pyarrow.bool_())
    if not hasattr(table, "schema"):
        return _chosen(table, mask)
    columns = [_chosen(column, mask, repr(name)) for name, column in zip(table.column_names, table.columns)]
    return type(table).from_arrays(columns, schema=table.schema)


def _pyarrow_extend(table: Any, columns: dict[str, list[Any]]) -> Any:
    pyarrow = import_module("pyarrow")
    for name, items in columns.items():
        table = table.append_column(name, pyarrow.array(items))
    return table


def _polars_extend(table: Any, columns: dict[str, list[Any]]) -> Any:
    polars = import_module("polars")
    return table.with_columns([polars.Series(name, items) for name, items in columns.items()])


def _pandas_extend(table: Any, columns: dict[str, list[Any]]) -> Any:
    pandas = import_module("pandas")
    # With None, integers would become floats.
    return table.assign(**{name: pandas.array(items) if None in items else items for name, items in columns.items()})


def _dataset_column(table: Any, name: str) -> Any:
    return _arrow.Chunks(batch[name] for batch in table.select_columns([name]).with_format("arrow").iter(1000))


def _dataset_extend(table: Any, columns: dict[str, list[Any]]) -> Any:
    for name, items in columns.items():
        table = table.add_column(name, items)
    return table


def _rows_extend(rows: Any, columns: dict[str, list[Any]]) -> Any:
    return [{**row, **dict(zip(columns, items))} for row, items in zip(rows, zip(*columns.values()))]


_PYARROW = _Table(_names, lambda t, n: t.column(n), lambda t, n: t.column(n).to_pylist(), pyarrow_take, _pyarrow_extend)
_PACKAGES = {
    "pyarrow": _PYARROW,
    "polars": _Table(_names, lambda t, n: t[n], lambda t, n: t[n].to_list(), lambda t, i: t[i], _polars_extend),
    "pandas": _Table(_names, lambda t, n: t[n], lambda t, n: t[n].tolist(), lambda t, i: t.iloc[i], _pandas_extend),
    "datasets": _Table(_names, _dataset_column, lambda t, n: list(t[n]), lambda t, i: t.select(i), _dataset_extend),
}
_ROWS = _Table(lambda t: list(dict.fromkeys(name for row in t for name in row)), lambda t, n: [row.get(n) for row in t],
               lambda t, n: [row.get(n) for row in t], lambda t, i: [t[number] for number in i], _rows_extend)


def _by_pyarrow(table: Any, package: str) -> Any:
    """Returns a table as one of pyarrow, and what makes the table of a package of that."""
    pyarrow = import_module("pyarrow")
    if package == "duckdb":
        def relation(result: Any) -> Any:
            # DuckDB finds the table by the name of the variable.
            return table.query("neardup_unused", "SELECT * FROM result")
        return table.to_arrow_table(), relation
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


def _open(records: Any, text: Any, id: Any = None) -> _Opened | None:
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
    elif _arrow.has_interface(records):
        opened = _Opened(_PYARROW, *_by_pyarrow(records, package))
    else:
        _refuse(records, "it has no __arrow_c_stream__; make it a table of pyarrow first")
    names = opened.how.names(opened.table)
    for name in text, id:
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
    return [0.0 if keeper == NO_KEEPER else compare(values[i], others[keeper]).similarity for i, keeper in enumerate(keepers)]


def _report(ids: Sequence[Any], kept: Kept, against_ids: Sequence[Any], values: Values, others: Values | None) -> dict[str, list[Any]]:
    keepers, similarities = kept.clusters
    sizes = Counter(keepers)
    columns: dict[str, list[Any]] = {
        "keeper": [None if keeper == NO_KEEPER else ids[keeper] for keeper in keepers],
        "similarity": list(similarities) if kept.held is None else list(map(max, similarities, kept.held.similarity)),
        "size": [None if keeper == NO_KEEPER else sizes[keeper] for keeper in keepers]}
    if kept.held is not None:
        columns["against"] = [None if keeper == NO_KEEPER else against_ids[keeper] for keeper in kept.held.keeper]
    if values.many.evidence:
        columns["estimate"] = _estimates(values, keepers, values)
        if kept.held is not None and others is not None:
            columns["estimate"] = list(map(max, columns["estimate"], _estimates(values, kept.held.keeper, others)))
    return columns


def make_values(texts: Any, *, k: int, b: int, scheme: str | None, lexicon: Lexicon | None, shingles: bool, decide: str,
                jobs: int, progress: Progress = None) -> Values:
    """Makes the values of texts by which dedupe() compares them."""
    made: Values
    if shingles:
        made = make_shingles(texts, scheme=scheme, lexicon=lexicon, jobs=jobs, progress=progress)
    elif decide == "texts":
        made = minhash_decided(texts, k, b, scheme, lexicon, jobs, progress)
    else:
        made = minhash(texts, k=k, b=b, scheme=scheme, lexicon=lexicon, jobs=jobs, progress=progress)
    return made


def dedupe(records: Any, threshold: float = DEFAULT.threshold, *, text: Any = None, id: Any = None,
           report: bool = False, against: Any = None, k: int = DEFAULT.k, b: int = DEFAULT.b, scheme: str | None = None,
           lexicon: Lexicon | None = None, shingles: bool = False, multiset: bool = False, containment: bool = False,
           nearest: bool = False, decide: str | None = None, contained: float | None = None, jobs: int = 1, memory: int = 0,
           progress: Progress = None) -> Any:
    """Returns what stays of records when near-duplicates go: the first of each cluster, and those without a text.

    records is a table, whose column `text` has the texts: of pyarrow, Polars, pandas, DuckDB, daft or Hugging Face's
    datasets, or a list of dicts; or the texts (str) in a list or a column.  What comes in comes out.  Of values, made by
    minhash() and its like, their numbers come out.  Records similar to one of `against` go first: a table with such a
    column, or texts or values.

    With report=True all rows come out, with columns more: keeper, its own id if a row stays, null if it has no text;
    similarity to the keeper; size, how many rows have this keeper; with `against` the id of the similar record there; and
    estimate, the similarity by signatures, if texts decide.  Ids are those of the column `id`, or numbers from 0.

    minhash() signs texts, with k, b, scheme and lexicon; with shingles=True, multiset or containment shingles()
    does.  Of those whose minhashes may reach the threshold, the shingles of the texts decide; with decide="signatures", or
    where one side has only values, the estimate does.  With `contained`, a share, a record goes if at least this share of its shingles is in the one
    that stays; the threshold says which are looked at.  The other arguments are those of clusters() and minhash()."""
    if decide not in (None, "texts", "signatures"):
        raise ValueError(f'decide is "texts" or "signatures", not {decide!r}')

    def values_of(side: Any, opened: _Opened | None) -> Values:
        if opened is None and _are_values(side):
            return Values.of(side)
        texts = side if opened is None else opened.how.column(opened.table, text)
        return make_values(texts, k=k, b=b, scheme=scheme, lexicon=lexicon, shingles=shingles or multiset or containment, decide=way, jobs=jobs, progress=progress)

    records, against = _listed(records), None if against is None else _listed(against)
    opened = _open(records, text, id)
    if opened is None and (text is not None or id is not None or report):
        _refuse(records, "text=, id= and report= are of tables, which have columns")
    if opened is not None and report and (taken := _REPORT & {*opened.how.names(opened.table)}):
        raise ValueError(f"the table has a column {min(taken)!r} already")
    numbers = opened is None and _are_values(records)
    other = None if against is None else _open(against, text)
    only_values = numbers or against is not None and other is None and _are_values(against)
    way = "signatures" if only_values else decide or "texts"
    values, others = values_of(records, opened), None if against is None else values_of(against, other)
    if decide == "texts" and only_values and not values.many.evidence:
        raise TypeError("texts cannot decide where one side has only values")
    kept = keep(values, threshold, others, multiset=multiset, containment=containment, nearest=nearest, contained=contained,
                jobs=jobs, memory=memory)
    if opened is None:
        return kept.stay if numbers else _take(records, kept.stay)
    if not report:
        return opened.back(opened.how.take(opened.table, kept.stay))
    ids = opened.how.items(opened.table, id) if id is not None else range(len(kept.clusters.keeper))
    against_ids: Sequence[Any] = range(NO_KEEPER)
    if id is not None and other is not None and id in other.how.names(other.table):
        against_ids = other.how.items(other.table, id)
    return opened.back(opened.how.extend(opened.table, _report(ids, kept, against_ids, values, others)))


def _listed(records: Any) -> Any:
    """Returns records, in a list if they come one by one."""
    _check_records(records)
    if _arrow.has_interface(records) or isinstance(records, (list, tuple, Values)) or _package_of(records) in _PACKAGES:
        return records
    if isinstance(records, (Iterator, KeysView, ValuesView)):
        return list(records)
    return records if hasattr(records, "ndim") or names_of(records) else _refuse(records, "put them in a list")
