"""Parquet files in and out, by pyarrow: read twice, and never whole."""

import contextlib
import io
import itertools
import mmap
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from . import _arrow, _footer
from ._joining import NO_KEEPER, Clusters, Kept, keep
from ._passages import Cut, cuts_of
from ._signing import Lexicon
from ._tables import make_values, pyarrow_edit, pyarrow_take
from ._values import Values, compare

pyarrow: Any = import_module("pyarrow")
parquet: Any = import_module("pyarrow.parquet")
compute: Any = import_module("pyarrow.compute")

# Rows that are read together, and bytes of rows that wait for a row group, at most.
_ROWS = 16384
_WAITING = 1 << 28


class InputError(Exception):
    """A file that cannot be read."""


# ---- Reading ---------------------------------------------------------------


@contextlib.contextmanager
def _reading(path: str) -> Iterator[None]:
    try:
        yield
    except (pyarrow.ArrowException, ValueError, OSError) as error:
        raise InputError(f'could not read "{path}": {" ".join(str(error).split())}') from None


def _open(path: str) -> Any:
    with _reading(path):
        with open(path, "rb") as file:
            if file.read(4) != b"PAR1":
                raise ValueError("it is no Parquet file; the command neardup reads JSON lines, CSV and TSV")
        # Microseconds of 64 bits hold all that 96 bits do.
        return parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False, coerce_int96_timestamp_unit="us")


def _batches(file: Any, columns: list[str] | None = None) -> Iterator[Any]:
    """Yields rows of one row group at a time, of which pyarrow reads what has dictionaries within."""
    for group in range(file.metadata.num_row_groups):
        yield from file.iter_batches(_ROWS, row_groups=[group], columns=columns)


def _walk(item: Any, steps: Sequence[str]) -> Iterator[str]:
    """Yields the texts within a value: `steps` are names, and "[]" for the elements of a list."""
    if not steps:
        yield from [] if item is None else [item]
    elif steps[0] == "[]":
        for element in item or ():
            yield from _walk(element, steps[1:])
    else:
        yield from _walk((item or {}).get(steps[0]), steps[1:])


def _texts_at(column: Any, steps: Sequence[str]) -> Any:
    """Returns the column of the texts at a place within the values of a column: those of lists on lines of their own."""
    while steps and steps[0] != "[]":
        column, steps = compute.struct_field(column, [steps[0]]), steps[1:]
    return pyarrow.array(["\n".join(_walk(item, steps)) for item in column.to_pylist()], pyarrow.large_utf8()) if steps else column


def _place_of(schema: Any, field: str) -> list[str]:
    """Returns the column and the steps within it that lead to a field, such as data.text or messages[].content."""
    root, *steps = [field] if field in schema.names else field.replace("[]", ".[]").split(".")
    if schema.names.count(root) != 1:
        raise ValueError(f"there {'are two columns' if root in schema.names else 'is no column'} {root!r}: the columns are {', '.join(map(repr, schema.names))}")
    kind = schema.field(root).type
    for step in steps:
        if step == "[]" and hasattr(kind, "value_type"):
            kind = kind.value_type
        elif pyarrow.types.is_struct(kind) and kind.get_field_index(step) >= 0:
            kind = kind.field(step).type
        else:
            raise ValueError(f"there is no {step!r} in {kind}")
    if "[]" in steps and "string" not in str(kind):
        raise ValueError(f"{field!r} has no texts: its type is {kind}, not string")
    return [root, *steps]


def _column(file: Any, field: str) -> Iterator[Any]:
    """Yields the arrays of a column, or of a field within one."""
    root, *steps = _place_of(file.schema_arrow, field)
    for batch in _batches(file, [root if "[]" in steps else ".".join([root, *steps])]):
        yield _texts_at(batch.column(0), steps)


# The names that are left out of which a message has the first.
_PLACES = 3


def _tell_left_out(what: str, left_out: Sequence[str]) -> None:
    if left_out:
        print(f"neardup: {what}: {len(left_out)}", *left_out[:_PLACES], *["  …"][:len(left_out) - _PLACES], sep="\n", file=sys.stderr)


def _distinct(paths: Sequence[str], against: str | None) -> list[str]:
    """Returns the paths without those of a file that was named before, or of `against`, and says which these are."""
    known: dict[tuple[int, ...], str] = {}
    left_out, stay = [], []
    for path in [*filter(None, [against]), *paths]:
        with _reading(path):
            status = os.stat(path)
        # Some file systems number no inodes.
        file = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        if file in known:
            left_out.append(f'  "{path}" is "{known[file]}"')
        else:
            known[file] = path
            stay.append(path)
    _tell_left_out("names that are left out, since another is of the same file", left_out)
    if not (mine := stay[against is not None:]):
        raise InputError("all files are those of --against: nothing would stay")
    return mine


def _texts_of(column: Any) -> Any:
    """Returns a column as texts, since the objects of Python have no nanoseconds; or as it is, if some of it may be no text."""
    try:
        return column if "binary" in str(column.type) else column.cast(pyarrow.string())
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
        return column


class _Side:
    """Files, one behind the other."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths, self.files = paths, [_open(path) for path in paths]

    def check(self, *fields: str | None) -> None:
        for path, file in zip(self.paths, self.files):
            for field in filter(None, fields):
                with _reading(path):
                    _place_of(file.schema_arrow, field)

    def column(self, field: str) -> Iterator[Any]:
        for path, file in zip(self.paths, self.files):
            with _reading(path):
                yield from _column(file, field)

    def ids(self, field: str | None) -> Sequence[Any]:
        """Returns the ids of the rows, as texts if Arrow has these of their type, or their numbers from 1."""
        return [item for array in self.column(field) for item in _texts_of(array).to_pylist()] if field else range(1, NO_KEEPER)


def _whole(paths: Sequence[str], field: str, *more: str | None) -> list[str]:
    """Returns the paths of files that can be read to their ends, and says which are left out."""
    stay, left_out = [], []
    for path in paths:
        try:
            side = _Side([path])
            side.check(field, *more)
            with _reading(path):
                for chunk in itertools.chain.from_iterable(map(_arrow.chunks_of, side.column(field))):
                    _arrow.texts_of(chunk)
                for _ in _batches(_Carried(path, side.files[0].schema_arrow).file):
                    pass
            stay.append(path)
        except TypeError as error:
            left_out.append(f'  could not read "{path}": {error}')
        except InputError as error:
            left_out.append(f"  {error}")
    _tell_left_out("files that are left out, since they cannot be read", left_out)
    if not stay:
        raise InputError("nothing can be read")
    return stay


def spooled(arrays: Iterator[Any], file: Any) -> Any:
    """Returns the arrays of a column, whose memory is a temporary file: a call that decides reads some of them again."""
    first = next(arrays, None)
    if first is None:
        return _arrow.Chunks([])
    schema = pyarrow.schema([("text", first.type)])
    with pyarrow.ipc.new_stream(file, schema) as writer:
        for array in itertools.chain([first], arrays):
            writer.write_batch(pyarrow.record_batch([array], schema))
    file.flush()
    with pyarrow.ipc.open_stream(pyarrow.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))) as reader:
        return _arrow.Chunks([batch.column(0) for batch in reader])


# ---- Writing ---------------------------------------------------------------


def _are_dictionaries(kind: Any) -> Iterator[bool]:
    """Yields for each column of values within a type whether it is read as a dictionary, whose order means something."""
    kind = getattr(kind, "storage_type", kind)
    if pyarrow.types.is_dictionary(kind) or not kind.num_fields:
        yield pyarrow.types.is_dictionary(kind)
    else:
        for i in range(kind.num_fields):
            yield from _are_dictionaries(kind.field(i).type)


class _Carried:
    """A file whose rows are read as what is stored, and written so."""

    def __init__(self, path: str, schema: Any) -> None:
        self._path = path
        with _reading(path), open(path, "rb") as file:
            self.footer = _footer.read_footer(file)
            stored = parquet.read_metadata(io.BytesIO(b"PAR1" + _footer.end_of(_footer.plain(self.footer))))
        with _reading(path):
            some = itertools.chain.from_iterable(_are_dictionaries(field.type) for field in schema)
            dictionaries = [stored.schema.column(i).path for i, is_dictionary in enumerate(some) if is_dictionary]
            self.file = parquet.ParquetFile(path, metadata=stored, buffer_size=1 << 20, pre_buffer=False, read_dictionary=dictionaries)
            self._names = self._check()

    def _check(self) -> list[str]:
        """Returns the names of the columns in the file that pyarrow would write, which has to store what this one does."""
        empty = io.BytesIO()
        parquet.ParquetWriter(empty, self.file.schema_arrow).close()
        mine, made = (_footer.leaves_of(footer) for footer in (self.footer, _footer.read_footer(empty)))
        plain = _footer.leaves_of(_footer.plain(self.footer))
        for leaf, here, there in itertools.zip_longest(mine, plain, made):
            if here is None or there is None or here.stored != there.stored:
                raise ValueError(f"the column {leaf or there} is stored in a way that pyarrow does not write: leave it out, or cast it first")
        return list(map(str, made))

    def _writer(self, out: Any) -> Any:
        """Returns a writer of such a file, each of whose columns is compressed as here."""
        groups = [self.file.metadata.row_group(i) for i in range(min(1, self.file.metadata.num_row_groups))]
        codecs = {name: group.column(i).compression.replace("UNCOMPRESSED", "NONE") for group in groups for i, name in enumerate(self._names)}
        ordered = [name for name, leaf in zip(self._names, _footer.leaves_of(self.footer)) if leaf.is_ordered()]
        return parquet.ParquetWriter(out, self.file.schema_arrow, compression=codecs or "snappy", write_statistics=ordered or False)

    def _rows(self, choose: Callable[[Any], Any]) -> Iterator[Any]:
        with _reading(self._path):
            for batch in _batches(self.file):
                yield choose(pyarrow.Table.from_batches([batch]))

    def write(self, choose: Callable[[Any], Any], out: Any) -> None:
        """Writes what is chosen of the rows, in row groups of as many rows as the largest, or fewer if they take much memory."""
        groups = range(self.file.metadata.num_row_groups)
        most = max((self.file.metadata.row_group(i).num_rows for i in groups), default=1)
        sink = _Sink(out)
        with self._writer(sink) as writer:
            waiting = self.file.schema_arrow.empty_table()
            for rows in self._rows(choose):
                waiting = pyarrow.concat_tables([waiting, rows])
                while len(waiting) >= most or waiting.nbytes >= _WAITING:
                    writer.write_table(waiting.slice(0, most), most)
                    waiting = waiting.slice(most)
            if len(waiting):
                writer.write_table(waiting, most)
            sink.end = io.BytesIO()
        end = _footer.end_of(_footer.restored(_footer.read_footer(sink.end), self.footer))
        self._compare(end)
        out.write(end)

    def _compare(self, end: bytes) -> None:
        """Refuses a file with this end, if pyarrow says something else of a column of it."""
        made, known = (parquet.read_metadata(file).schema for file in (io.BytesIO(b"PAR1" + end), self._path))
        for here, there in itertools.zip_longest(known, made):
            if here is None or there is None or not here.equals(there):
                raise InputError(f'the column {(here or there).path} of "{self._path}" would be another one: {here} would be {there}')


class _Sink(io.RawIOBase):
    """A file, and its end, which waits in memory."""

    def __init__(self, out: Any) -> None:
        self._out = out
        self.end: io.BytesIO | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        written: int = (self.end or self._out).write(data)
        return written


def _outputs(inputs: Sequence[str], output: str, several: bool) -> list[pathlib.Path]:
    """Returns the path of each output: that of the one file, or one of each input's name in a folder."""
    if not several and not output.endswith("/") and not os.path.isdir(output):
        return [pathlib.Path(output)]
    if output.endswith(".parquet"):
        raise InputError(f'several files make several: name a folder for them, such as "{output.removesuffix(".parquet")}/"')
    paths = [pathlib.Path(output, pathlib.Path(path).name) for path in inputs]
    for first, second in itertools.pairwise(sorted(paths)):
        if first == second:
            raise InputError(f'two files are named "{first.name}", and would be one in "{output}"')
    pathlib.Path(output).mkdir(parents=True, exist_ok=True)
    return paths


def _check_written(read: Sequence[str], against: str | None, outputs: Sequence[pathlib.Path], report: str | None) -> None:
    """Refuses to write over a file that is read, but for an output that takes the place of its input, or over an output."""
    def is_one_of(path: str | pathlib.Path, others: Sequence[str | pathlib.Path]) -> bool:
        known = pathlib.Path(path).resolve()
        return (known.is_file() or not known.exists()) and any(
            known == (other := pathlib.Path(name).resolve()) or known.exists() and other.exists() and known.samefile(other) for name in others)

    if report and is_one_of(report, outputs):
        raise InputError(f'"{report}" is the file of the output')
    written: list[str | pathlib.Path] = [*outputs, *filter(None, [report])]
    lost = report if report and is_one_of(report, read) else against if against and is_one_of(against, written) else None
    if lost:
        raise InputError(f'"{lost}" would be overwritten while it is read')


@contextlib.contextmanager
def _aside() -> Iterator[Callable[[str | pathlib.Path], pathlib.Path]]:
    """Gives what says where to write a file: aside, until all are written.  A pipe or a device is written to where it is."""
    names: dict[pathlib.Path, pathlib.Path] = {}

    def place_of(name: str | pathlib.Path) -> pathlib.Path:
        path = pathlib.Path(name).resolve()
        if path.exists() and not path.is_file():
            return path
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        names[aside] = path
        return aside

    try:
        yield place_of
        for aside, path in names.items():
            aside.replace(path)
    finally:
        for aside in names:
            aside.unlink(missing_ok=True)


class _Named(NamedTuple):
    """The values of rows, and their ids."""

    values: Values
    ids: Sequence[Any]


def _dropped(clusters: Clusters, reason: str, decided: str, mine: _Named, theirs: _Named) -> Iterator[str]:
    special = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
    for i, (keeper, similarity) in enumerate(zip(*clusters)):
        if keeper != NO_KEEPER and (reason == "against" or keeper != i):
            names = (str(name).translate(special) for name in (mine.ids[i], theirs.ids[keeper]))
            numbers = [similarity, *([compare(mine.values[i], theirs.values[keeper]).similarity] if mine.values.many.evidence else [])]
            said, *estimate = (repr(number).removesuffix(".0") for number in numbers)
            yield "\t".join([*names, said, reason, decided, *estimate]) + "\n"


def _report(file: Any, kept: Kept, decided: str, mine: _Named, theirs: _Named | None) -> None:
    """Writes what the command's --report does, in its order; `decided` is texts or signatures."""
    if kept.held is not None and theirs is not None:
        file.writelines(_dropped(kept.held, "against", decided, mine, theirs))
    file.writelines(_dropped(kept.clusters, "duplicate", decided, mine, mine))


# ---- Deduplication ---------------------------------------------------------


def _common(share: float, source: str | None, field: str, scheme: str | None, side: _Side, other: _Side | None) -> Lexicon:
    """Returns the lexicon of what many texts of files have."""
    def texts() -> Iterator[Any]:
        for some in filter(None, (side, other)):
            for array in some.column(field):
                yield from array.to_pylist()

    sources = itertools.chain(side.ids(source) if source else (), itertools.repeat(None))
    return Lexicon.common(texts(), share, sources, scheme)


def _chosen(stay: Sequence[int], count: int) -> Callable[[Any], Any]:
    """Returns what returns those rows of the next table that stay."""
    stays, place = bytearray(count), 0
    for number in stay:
        stays[number] = 1

    def choose(rows: Any) -> Any:
        nonlocal place
        place += len(rows)
        return pyarrow_take(rows, [i for i, stay in enumerate(memoryview(stays)[place - len(rows):place]) if stay])
    return choose


class _Cutting:
    """Cuts passages out of tables, one behind the other, and reports them."""

    def __init__(self, cuts: Iterator[Cut], field: str, min_left: int, lines: Any, ids: tuple[Sequence[Any], Sequence[Any]]) -> None:
        self._cuts, self._field, self._least, self._lines, self._ids = cuts, field, min_left, lines, ids
        self._next, self._place, self.stay = next(cuts, None), 0, 0

    def _tell(self, cut: Cut) -> None:
        special = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
        own, firsts = self._ids
        for passage in cut.passages:
            names = (str(ids[i]).translate(special) for ids, i in ((own, passage.record), (firsts, passage.first)))
            self._lines.write("{0}\t{2}\t{3}\t{1}\t{4}\t{5}\n".format(*names, passage.start + 1, passage.end, passage.first_start + 1, passage.first_end))
        if cut.left < self._least:
            self._lines.write("\t".join([str(own[cut.record]).translate(special), *["\\N"] * 5]) + "\n")

    def __call__(self, rows: Any) -> Any:
        texts, gone, begin = {}, set(), self._place
        self._place += len(rows)
        while self._next and self._next.record < self._place:
            cut, self._next = self._next, next(self._cuts, None)
            if self._lines:
                self._tell(cut)
            if cut.left < self._least:
                gone.add(cut.record - begin)
            else:
                texts[cut.record - begin] = cut.of(rows.column(self._field)[cut.record - begin].as_py())
        self.stay += len(rows) - len(gone)
        rows = pyarrow_edit(rows, self._field, texts) if texts else rows
        return pyarrow_take(rows, [i for i in range(len(rows)) if i not in gone]) if gone else rows


def _write_files(paths: Sequence[pathlib.Path], carried: Sequence[_Carried], choose: Callable[[Any], Any], aside: Callable[[str | pathlib.Path], pathlib.Path]) -> None:
    for path, some in zip(paths, carried):
        with open(aside(path), "wb") as out:
            some.write(choose, out)


def dedupe_files(inputs: Sequence[str], output: str, *, field: str, id: str | None, source: str | None, common: float | None,
                 against: str | None, report: str | None, skip_errors: bool, keeping: dict[str, Any], making: dict[str, Any],
                 passages: dict[str, int] | None, done: Callable[[int, int], Any], told: Callable[[int], Any]) -> None:
    """Writes what stays of Parquet files, with skip_errors of those that can be read: a file, or one for each in a folder.
    `keeping` is of keep(), `making` of make_values(); with `passages` these go instead of rows; done is told how many rows stay, of how many; told how many shingles
    are left out, as of dedupe()."""
    known = _distinct(_whole(inputs, field, id, source) if skip_errors else inputs, against)
    several = len(known) > 1 or skip_errors and len(inputs) > 1
    inputs = known
    side, other = _Side(inputs), None if against is None else _Side([against])
    side.check(field, id, source)
    carried = [_Carried(path, file.schema_arrow) for path, file in zip(side.paths, side.files)]
    if other is not None:
        other.check(field, id if report else None)
    paths = _outputs(inputs, output, several)
    _check_written(inputs, against, paths, report)
    if passages:
        if any(field not in file.schema_arrow.names for file in side.files):
            raise InputError(f"passages go from a column of texts, and {field!r} is within one: make it a column first")
        ids = side.ids(id) if report else ()
        firsts = ids if other is None or not report else other.ids(id)
        _, cuts = cuts_of(_arrow.Chunks(side.column(field)), None if other is None else _arrow.Chunks(other.column(field)), passages["min_run"], keeping["jobs"], keeping["memory"])
        with _aside() as aside, open(aside(report), "w", encoding="utf-8") if report else contextlib.nullcontext() as lines:
            cutting = _Cutting(cuts, field, passages["min_left"], lines, (ids, firsts))
            _write_files(paths, carried, cutting, aside)
        done(cutting.stay, sum(some.file.metadata.num_rows for some in carried))
        return
    if common is not None:
        lexicon = _common(common, source, field, making["scheme"], side, other)
        told(count := str(lexicon).count(":"))
        making = {**making, "lexicon": lexicon if count else None}
    with contextlib.ExitStack() as spools:
        def values_of(some: _Side) -> Values:
            texts = some.column(field)
            again = making["decide"] == "texts" and not making["shingles"]
            return make_values(spooled(texts, spools.enter_context(tempfile.TemporaryFile())) if again else _arrow.Chunks(texts), threshold=keeping["threshold"] if keeping["contained"] is None else None, **making)

        values, others = values_of(side), None if other is None else values_of(other)
        kept = keep(values, against=others, **keeping)
    rows = len(kept.clusters.keeper)
    with _aside() as aside:
        if report:
            with open(aside(report), "w", encoding="utf-8") as lines:
                theirs = None if other is None or others is None else _Named(others, other.ids(id))
                _report(lines, kept, "texts" if making["shingles"] else making["decide"], _Named(values, side.ids(id)), theirs)
        _write_files(paths, carried, _chosen(kept.stay, rows), aside)
    done(len(kept.stay), rows)
