"""python -m neardup.verify in.jsonl kept.jsonl report.tsv: checks that a removal by neardup dedupe lost nothing.

It shares no code with the rest of the package: texts are cut into words and shingles here, by doc/explanation/recipe.md, from
characters.txt, which has the properties of characters.  Exit 0 if all is as the report says; 1 with what is not; 2 if a file cannot be read.
"""

import argparse
import bisect
import csv
import functools
import gzip
import io
import itertools
import json
import os
import pathlib
import random
import re
import sys
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, BinaryIO, NamedTuple, NoReturn

_MARK, _ALONE, _CLASS, _ASSIGNED, _IGNORED, _BOUNDARY = 2, 3, 3, 8, 16, 64
_SEGMENT = 32
_BOM = b"\xef\xbb\xbf"
_COPIED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LINE_END = re.compile("(\r\n|[\n\r\u2028\u2029])")
_STRING = re.compile(rb'("(?:[^"\\]|\\.)*")')
# How files begin that the command does not read.
_FOREIGN = (b"%PDF-", b"PK\3\4", b"\xfd7zXZ", b"BZh", b"PAR1", b"ARROW1", b"\4\x22\x4d\x18", b"SQLite format 3", b"\xff\xfe", b"\xfe\xff", b"\xff\xff\xff\xff")


class Wrong(Exception):
    """What is not as the report says."""


class Unreadable(Exception):
    """A file, or a record, that cannot be read."""


# ---- Words and shingles ----------------------------------------------------


@functools.cache
def _characters() -> tuple[list[int], list[int]]:
    lines = pathlib.Path(__file__).with_name("characters.txt").read_text("ascii").split()
    return [int(code, 16) for code in lines[::2]], list(map(int, lines[1::2]))


@functools.cache
def _info(character: str) -> int:
    starts, infos = _characters()
    return infos[bisect.bisect_right(starts, ord(character)) - 1]


@functools.cache
def _fold(character: str) -> str:
    """Returns the NFKC_Casefold mapping of a character."""
    before, after = "", character
    while after != before:
        before = "".join(c for c in after if not _info(c) & _IGNORED)
        after = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", before).casefold())
    return after


def _segments(text: str) -> Iterator[str]:
    segment = ""
    for character in text:
        info = _info(character)
        if not info & _ASSIGNED:
            yield segment
            yield " "
            segment = ""
            continue
        after_blank = segment[-1:].isascii() and not segment[-1:].isalnum()
        if segment and (after_blank or character.isascii() or info & _BOUNDARY or len(segment) == _SEGMENT):
            yield segment
            segment = ""
        segment += character
    yield segment


def normal(text: str) -> str:
    """Returns the normal form of a text."""
    if text.isascii():
        return text.lower()
    folded = ("".join(map(_fold, unicodedata.normalize("NFD", segment))) for segment in _segments(text))
    return "".join(unicodedata.normalize("NFC", segment) for segment in folded)


_WORD = re.compile("[a-z0-9]+")


def words(text: str) -> list[str]:
    """Returns the tokens of a text."""
    form = normal(text)
    if form.isascii():
        return _WORD.findall(form)
    tokens, open_one = [], ""
    for character in form:
        kind = _info(character) & _CLASS
        if kind == _MARK and open_one or kind == 1 and open_one and _info(open_one[0]) & _CLASS != _ALONE:
            open_one += character
        else:
            tokens.append(open_one)
            open_one = character if kind in (1, _ALONE) else ""
    return [token for token in [*tokens, open_one] if token]


def shingles(text: str, scheme: str) -> "Counter[Any]":
    """Returns how often a text has each shingle."""
    kind, width = scheme.split()
    if kind == "anychar":
        units: Any = " ".join(re.findall("[^\0-\x20]+", normal(text)))
    else:
        units = " ".join(words(text)) if kind == "char" else words(text)
    size = min(int(width), len(units)) or 1
    return Counter(units[i:i + size] if isinstance(units, str) else tuple(units[i:i + size]) for i in range(len(units) - size + 1))


def _own(some: "Counter[Any]", common: Collection[Any]) -> "Counter[Any]":
    """Returns what a text has without the common shingles, or all if there is nothing else."""
    return Counter({shingle: count for shingle, count in some.items() if shingle not in common}) or some


def similarity(removed: str, keeper: str, how: argparse.Namespace, against: bool, common: Collection[Any] = ()) -> float:
    """Returns by how much a record is similar to its keeper, as the options measure it."""
    a, b = (_own(shingles(text, how.scheme), common) for text in (removed, keeper))
    if how.multiset:
        return (a & b).total() / ((a | b).total() or 1)
    both = len(a.keys() & b.keys())
    if how.contained:
        return max(both / (len(a) or 1), both / (len(b) or 1) if against else 0)
    return both / (min(len(a), len(b)) if how.containment else len(a.keys() | b.keys()) or 1) if both else 0.0


# ---- Records ---------------------------------------------------------------


class Record(NamedTuple):
    """A record: its number from 1, its bytes with their line end, and its id; its fields are read when they are asked for."""

    number: int
    raw: bytes
    id: str
    fields: Any


def _unpacked(path: str) -> BinaryIO:
    """Returns what zstd has packed."""
    for name in "compression.zstd", "zstandard":
        try:
            module = import_module(name)
        except ImportError:
            continue
        if name == "zstandard":
            return io.BufferedReader(module.ZstdDecompressor().stream_reader(_raw(path), read_across_frames=True))
        opened: BinaryIO = module.open(_raw(path))
        return opened
    raise Unreadable(f'"{path}" is packed by zstd, which Python reads from 3.14 on, or with the package zstandard: install it, or unpack the file first')


def _raw(path: str) -> Any:
    return sys.stdin.buffer if path == "-" else open(path, "rb")


def _open(path: str) -> BinaryIO:
    file = _raw(path)
    head = file.peek(16)
    if head[:2] == b"\x1f\x8b":
        return gzip.open(file)  # type: ignore[return-value]
    if head[:4] == b"\x28\xb5\x2f\xfd" or head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5:
        return _unpacked(path)
    if head.startswith(_FOREIGN) or path.endswith((".gz", ".zst")) and head:
        raise Unreadable(f'"{path}" is of another format')
    return file  # type: ignore[no-any-return]


def _readable(path: str) -> bool:
    """Returns whether a file is read, if errors are skipped: one that is packed, and damaged, not only cut, is left out."""
    try:
        if path == "-":
            return True
        file = _open(path)
        return b"\0" not in file.read(4096) and (not isinstance(file, gzip.GzipFile) or all(iter(lambda: file.read(1 << 20), b"")))
    except EOFError:
        return True
    except (OSError, Unreadable, zlib.error):
        return False


def _rows(file: BinaryIO, how: argparse.Namespace) -> Iterator[bytes]:
    """Yields the records of a file, without the byte order mark before them."""
    row, is_open = b"", False
    ends = re.compile(rb'(?:(?:"(?:[^"]|"")*"(?!")[^%b\n]*|[^"%b\n][^%b\n]*)?(?:%b|(\n)))*' % ((re.escape(how.separator.encode()),) * 4))
    for number, line in enumerate(file):
        line = line if number else line.removeprefix(_BOM)
        row += line
        if how.format == "csv" and (is_open or b'"' in line):
            # A quote that is open stands before what follows.
            found = ends.fullmatch(b'"' + line if is_open else line)
            is_open = not found or not found[1]
        if not is_open:
            yield row
            row = b""
    # A last line may have no end.
    if row and not (how.skip_errors and not ends.fullmatch(row + b"\n")):
        yield row


def _cells(row: bytes, how: argparse.Namespace) -> list[str]:
    text = row.decode().rstrip("\r\n")
    if how.format == "csv":
        return next(csv.reader([text], delimiter=how.separator), [""]) if "\n" not in text else next(csv.reader(text.splitlines(True), delimiter=how.separator))
    cells = re.findall(r"((?:\\.|[^\\%s])*)(?:%s|$)" % ((re.escape(how.separator),) * 2), text)[:-1] or [""]
    return ["" if cell == "\\N" else re.sub(r"\\(.)", lambda m: _COPIED.get(m[1], m[1]), cell) for cell in cells]


def _edited(value: Any, steps: list[str], edit: Callable[[str], str]) -> Any:
    """Returns a value with other texts at a place within it."""
    if not steps:
        # In Parquet files, texts may be bytes.
        return edit(value) if isinstance(value, str) else edit(value.decode(errors="replace")).encode() if isinstance(value, bytes) else value
    if steps[0] == "[]":
        return [_edited(element, steps[1:], edit) for element in value] if isinstance(value, list) else value
    return {**value, steps[0]: _edited(value[steps[0]], steps[1:], edit)} if isinstance(value, dict) and steps[0] in value else value


def _with_texts(fields: Any, name: str, edit: Callable[[str], str]) -> Any:
    """Returns a record with other texts in a field."""
    return _edited(fields, [name] if name in fields else name.replace("[]", ".[]").split("."), edit)


def _texts_of(fields: Any, name: str) -> list[str]:
    texts: list[str] = []
    _with_texts(fields, name, lambda text: texts.append(text) or text)  # type: ignore[func-returns-value]
    return texts


def value_of(fields: Any, name: str) -> str:
    """Returns the text in a field."""
    return "\n".join(_texts_of(fields, name))


def _id_of(fields: Any, name: str | None, number: int) -> str:
    if name is None:
        return str(number)
    value = fields.get(name, "")
    return "" if value is None else value if isinstance(value, str) else str(value) if not isinstance(value, (bool, list, dict)) else json.dumps(value)


def _fields(row: bytes, names: list[str] | None, how: argparse.Namespace) -> Any:
    try:
        fields = dict(zip(names, _cells(row, how))) if names else json.loads(row, parse_float=str, parse_int=str)
    except ValueError as error:
        raise Unreadable(str(error)) from None
    if not isinstance(fields, dict):
        raise Unreadable("it is no JSON object")
    return fields


def _values(column: Any) -> list[Any]:
    """Returns the values of a column of pyarrow: moments as numbers, since Python's have no nanoseconds."""
    kind, types = column.type, import_module("pyarrow").types
    if types.is_timestamp(kind) or types.is_time64(kind) or types.is_duration(kind):
        column = column.cast("int64")
    values: list[Any] = column.to_pylist()
    return values


def _of_parquet(path: str, how: argparse.Namespace, number: int) -> Iterator[Record]:
    """Yields the rows of a Parquet file, whose values are their bytes."""
    try:
        file = import_module("pyarrow.parquet").ParquetFile(path)
        how.schemas[path] = file.schema_arrow
        # pyarrow reads what has dictionaries within of one row group at a time.
        for batch in itertools.chain.from_iterable(file.iter_batches(4096, row_groups=[group]) for group in range(file.metadata.num_row_groups)):
            for row in zip(*map(_values, batch.columns)):
                number, fields = number + 1, dict(zip(batch.schema.names, row))
                yield Record(number, repr(row).encode(), _id_of(fields, how.id, number), fields)
    except ImportError:
        raise Unreadable("Parquet files are read by pyarrow, which is not here") from None
    except ValueError as error:
        raise Unreadable(f'could not read "{path}": {error}') from None


def _is_whole(path: str, how: argparse.Namespace) -> bool:
    """Returns whether a Parquet file can be read to its end, and has the columns: if errors are skipped, another one is left out."""
    try:
        for _ in _of_parquet(path, how, 0):
            pass
    except (Unreadable, OSError):
        return False
    schema = how.schemas[path]
    root = how.field if how.field in schema.names else re.split(r"\.|\[", how.field)[0]
    return {root, *filter(None, (how.id, how.source))} <= {*schema.names} and re.search("string|binary", str(schema.field(root).type)) is not None


class Side:
    """The records of files, which are numbered, and the names of columns; if errors are skipped, how many are left out."""

    def __init__(self, how: argparse.Namespace, skip: bool = False) -> None:
        self._how, self._skip, self._number = how, skip, 0
        self.heads: list[bytes] = []
        self.left_out = 0

    def records(self, paths: Iterable[str]) -> Iterator[Record]:
        for path in paths:
            if self._how.format == "parquet":
                for record in _of_parquet(path, self._how, self._number) if not self._skip or _is_whole(path, self._how) else ():
                    self._number = record.number
                    yield record
            elif not self._skip or _readable(path):
                try:
                    yield from self._of_file(path)
                except EOFError:
                    if not self._skip:
                        raise

    def _of_file(self, path: str) -> Iterator[Record]:
        how, names = self._how, None
        for row in _rows(_open(path), how):
            if how.format != "jsonl" and names is None:
                names = _cells(row, how)
                known = self.heads and _cells(self.heads[0], how) or names
                if self._skip and (how.field not in names or how.id not in (None, *names) or known != names):
                    return
                self.heads.append(row)
            elif how.format != "jsonl" or row.strip(b" \t\r\n"):
                self._number += 1
                try:
                    fields = _fields(row, names, how)
                except Unreadable as error:
                    if not self._skip:
                        raise Unreadable(f'record {self._number} of "{path}" cannot be read: {error}') from None
                    self.left_out += 1
                    continue
                yield Record(self._number, row if row.endswith(b"\n") else row + b"\n", _id_of(fields, how.id, self._number), fields)


def _read_report(path: str) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="\n") as file:
        return [[re.sub(r"\\(.)", lambda m: _COPIED.get(m[1], m[1]), cell) for cell in line.rstrip("\n").split("\t")] for line in file]


# ---- Checks ----------------------------------------------------------------


class Found(NamedTuple):
    """What was checked."""

    records: int
    stay: int
    left_out: int


def _files_of(how: argparse.Namespace) -> list[str]:
    """Returns the files that count: each once, whatever its names, and none that is also of --against."""
    known, files = set(), []
    for path in [*how.against, *how.files]:
        try:
            status = os.stat(path)
        except OSError:
            files.append(path)
            continue
        if (status.st_dev, status.st_ino) not in known:
            files.append(path)
        known.add((status.st_dev, status.st_ino))
    return files[len([path for path in files if path in how.against]):]


def _pairs_of(how: argparse.Namespace) -> list[tuple[list[str], str]]:
    """Returns files, and that with what stays of them: of a folder, the one of each name."""
    files = _files_of(how)
    return [([path], os.path.join(how.out, os.path.basename(path))) for path in files] if os.path.isdir(how.out) else [(files, how.out)]


def _same_marks(files: list[str], out: str, how: argparse.Namespace) -> None:
    begun = (_open(path).peek(3)[:3] for path in files if not how.skip_errors or _readable(path))  # type: ignore[attr-defined]
    marked = sorted((start == _BOM, path) for start, path in ((next(filter(None, begun), b""), files[0]), (_open(out).peek(3)[:3], out)))  # type: ignore[attr-defined]
    if marked[0][0] != marked[1][0]:
        raise Wrong(f'"{marked[1][1]}" has a byte order mark, and "{marked[0][1]}" has none')


def _is_kept(record: Record, fields: Any, kept: Record | None, how: argparse.Namespace) -> bool:
    """Returns whether a record came out with these fields, and otherwise as it was."""
    if kept is None or fields is record.fields:
        return kept is not None and kept.raw == record.raw
    pieces = [_STRING.split(side.raw) for side in (record, kept)] if how.format == "jsonl" else [[], []]
    same = all(a == b or a[:1] == b'"' and json.loads(a) != json.loads(b) for a, b in zip(*pieces))
    return same and len(pieces[0]) == len(pieces[1]) and bool(fields == kept.fields)


def _compare(how: argparse.Namespace, needed: dict[str, str], change: Callable[[Record], Any]) -> Found:
    """Compares records, as they are changed, or None if they go, with the output, in order, and gathers the texts that are
    needed."""
    seen, stay, number = set(), 0, 0
    mine = Side(how, how.skip_errors)
    for files, path in _pairs_of(how):
        there = not how.skip_errors or os.path.exists(path)
        if how.format != "parquet" and there:
            _same_marks(files, path, how)
        mine.heads, made = [], Side(how)
        out = made.records([path] if there else [])
        for record in mine.records(files):
            number += 1
            if record.id in needed:
                if record.id in seen:
                    raise Wrong(f'the id "{record.id}" occurs twice: write the report without --id')
                seen.add(record.id)
                needed[record.id] = value_of(record.fields, how.field)
            if (fields := change(record)) is None:
                continue
            stay += 1
            if not _is_kept(record, fields, next(out, None), how):
                raise Wrong(f'record {record.number} is not in "{path}" as it was, nor in the report')
        if (more := next(out, None)) is not None:
            raise Wrong(f'record {more.number} of "{path}" is no record of what was read')
        if how.format == "parquet" and there and not how.schemas[path].equals(how.schemas[files[0]], check_metadata=True):
            raise Wrong(f'"{path}" has other columns, types or metadata than "{files[0]}"')
        if there and [head.rstrip(b"\r\n") for head in made.heads] != [head.rstrip(b"\r\n") for head in mine.heads[:1]]:
            raise Wrong(f'the names of columns of "{path}" are other ones')
    if missing := needed.keys() - seen:
        raise Wrong(f'there is no record "{min(missing)}", which the report names')
    return Found(number, stay, mine.left_out)


def _common_ones(how: argparse.Namespace) -> set[Any]:
    """Returns the shingles that --common leaves out: those of many distinct texts, of all or of a source."""
    seen, texts, counts = set(), Counter[str](), Counter[tuple[str, Any]]()
    for files, source in (_files_of(how), how.source), (how.against, None):
        for record in Side(how, how.skip_errors).records(files):
            some = frozenset(shingles(value_of(record.fields, how.field), how.scheme))
            own = _id_of(record.fields, source, 0) if source else ""
            for place in {"", own}:
                if (place, some) not in seen:
                    seen.add((place, some))
                    texts[place] += 1
                    counts.update((place, shingle) for shingle in some)
    return {shingle for (place, shingle), count in counts.items() if count >= max(how.common * texts[place], 20)}


def _texts_of_others(how: argparse.Namespace, wanted: set[str]) -> dict[str, str]:
    found = {record.id: value_of(record.fields, how.field) for record in Side(how, how.skip_errors).records(how.against) if record.id in wanted}
    if missing := wanted - found.keys():
        raise Wrong(f'no record of --against has the id "{min(missing)}", which the report names')
    return found


def check_records(how: argparse.Namespace) -> str:
    rows = _read_report(how.report)
    if any(len(row) < 5 for row in rows):
        raise Wrong("a line of the report has fewer than five fields")
    removed = {row[0] for row in rows}
    if len(removed) < len(rows):
        raise Wrong(f'the report removes "{Counter(row[0] for row in rows).most_common(1)[0][0]}" twice')
    for row in rows:
        if row[3] == "duplicate" and row[1] in removed and how.drop != "all":
            raise Wrong(f'the keeper "{row[1]}" of "{row[0]}" is removed, too')
    needed = dict.fromkeys([*removed, *(row[1] for row in rows if row[3] == "duplicate")], "")
    sources: dict[str, str] = {}

    def change(record: Record) -> Any:
        if how.audit and record.id in needed:
            sources[record.id] = _id_of(record.fields, how.audit, 0)
        return None if record.id in removed else record.fields

    found = _compare(how, needed, change)
    others = _texts_of_others(how, {row[1] for row in rows if row[3] == "against"})
    exact = [row for row in rows if row[4] == "texts"]
    unknown = "of masked texts" if how.mask else "weighed by a lexicon" if how.lexicon else f"of the scheme {how.scheme}" if how.scheme.split()[0] not in ("word", "char", "anychar") else ""
    common = _common_ones(how) if how.common else set()
    looked_at = [] if unknown else random.Random(how.seed).sample(exact, min(how.sample, len(exact))) if how.sample else exact
    for row in looked_at:
        _check_similarity(row, needed[row[0]], (others if row[3] == "against" else needed)[row[1]], how, common)
    left = {"estimated": len(rows) - len(exact), f"{unknown}, which is not computed here": len(exact) if unknown else 0, "not of the sample": 0 if unknown else len(exact) - len(looked_at)}
    return (f"{found.records} records: {found.stay} in \"{how.out}\", {len(rows)} removed; {len(looked_at)} similarities are those of the texts, "
            f"{len(rows) - len(looked_at)} were not looked at" + "".join(f"; {count} are {why}" for why, count in left.items() if count) + _told(found)
            + (_audit(rows, sources, needed, others, how) if how.audit else ""))


def _shown(texts: tuple[str, str]) -> str:
    """Returns two texts from a little before the place where they begin to differ."""
    start = max(_equal_words(*texts) - 20, 0) if texts[0] != texts[1] else 0
    return " | ".join(json.dumps("…" * (start > 0) + text[start:start + 60] + "…" * (start + 60 < len(text)), ensure_ascii=False) for text in texts)


def _audit(rows: list[list[str]], sources: dict[str, str], texts: dict[str, str], others: dict[str, str], how: argparse.Namespace) -> str:
    """Returns what went, by the sources of it and of what it resembles, most first, with three of each that are drawn."""
    groups: dict[tuple[str, str], list[list[str]]] = {}
    if rows and not any(sources.values()):
        raise Unreadable(f'no record that the report names has a field "{how.audit}"')
    for row in rows:
        groups.setdefault((sources[row[0]], "--against" if row[3] == "against" else sources[row[1]]), []).append(row)
    made, draw = "", random.Random(how.seed)
    for (mine, its), some in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        values = sorted(float(row[2]) for row in some)
        made += f"\n{len(some)} of {json.dumps(mine)} for {json.dumps(its)}: similarity {values[0]:.3f} to {values[-1]:.3f}, median {values[len(values) // 2]:.3f}"
        for row in draw.sample(some, min(3, len(some))):
            kept = (others if row[3] == "against" else texts)[row[1]]
            made += f"\n    {float(row[2]):.3f} {_shown((texts[row[0]], kept))}"
    return made


def _told(found: Found) -> str:
    return f"; {found.left_out} that cannot be read were left out" if found.left_out else ""


def _check_similarity(row: list[str], text: str, keeper: str, how: argparse.Namespace, common: Collection[Any]) -> None:
    said, least = float(row[2]), how.contained or how.threshold
    value = similarity(text, keeper, how, row[3] == "against", common)
    if abs(value - said) > 1e-12:
        raise Wrong(f'"{row[0]}" and "{row[1]}" have a similarity of {value:.15g}, not {said:.15g}')
    if value < least - 1e-12:
        raise Wrong(f'"{row[0]}" and "{row[1]}" have a similarity of {value:.15g}, which is below {least:.15g}')


def _lines(text: str) -> tuple[list[str], list[str]]:
    parts = _LINE_END.split(text)
    return parts[::2], parts[1::2]


class _Lines:
    """The lines that go, by their records, and the words of those that stood before."""

    def __init__(self, how: argparse.Namespace, rows: list[list[str]]) -> None:
        self._how, self._number = how, 0
        self.gone: dict[str, dict[int, list[str]]] = {}
        for row in rows:
            self.gone.setdefault(row[0], {})[int(row[1])] = row
        self._before: dict[str, set[tuple[str, ...]]] = {"duplicate": set(), "against": set()}

    def note(self, text: str, where: str) -> str:
        self._before[where].update(tuple(words(line)) for line in _lines(text)[0])
        return text

    def change(self, record: Record) -> Any:
        """Returns a record without the lines that go; None if it keeps none."""
        gone, self._number = self.gone.get(record.id, {}), 0
        changed = _with_texts(record.fields, self._how.field, lambda text: self._cut(text, gone))
        if gone and max(gone) > self._number:
            raise Wrong(f'"{record.id}" has no line {max(gone)}')
        return record.fields if not gone else None if len(gone) == self._number else changed

    def _cut(self, text: str, gone: dict[int, list[str]]) -> str:
        (lines, ends), made = _lines(text), ""
        first = True
        for i, line in enumerate(lines):
            self._number += 1
            if row := gone.get(self._number):
                _check_line(row, line, self._before, self._how)
                continue
            self.note(line, "duplicate")
            made, first = made + ("" if first else ends[i - 1]) + line, False
        return made


def check_lines(how: argparse.Namespace) -> str:
    lines = _Lines(how, rows := _read_report(how.report))
    for record in Side(how, how.skip_errors).records(how.against):
        _with_texts(record.fields, how.field, lambda text: lines.note(text, "against"))
    found = _compare(how, dict.fromkeys(lines.gone, ""), lines.change)
    return f"{found.records} records: {found.stay} in \"{how.out}\", without {len(rows)} lines, each of which stood in another" + _told(found)


def _check_line(row: list[str], line: str, before: dict[str, set[tuple[str, ...]]], how: argparse.Namespace) -> None:
    tokens = tuple(words(line))
    if row[2] == "empty" and tokens or row[2] != "empty" and len(tokens) < how.min_words:
        raise Wrong(f'line {row[1]} of "{row[0]}" should not have gone: it has {len(tokens)} words')
    if row[2] != "empty" and tokens not in before[row[2]] and not how.mask:
        raise Wrong(f'line {row[1]} of "{row[0]}" stands nowhere else')


# ---- Passages --------------------------------------------------------------


class _Texts:
    """The texts of a record, joined by line ends, with the numbers of words up to places between pieces without ASCII blanks."""

    def __init__(self, texts: list[str]) -> None:
        self.texts, self.all = texts, "\n".join(texts)
        self._starts, self._before, self.words = [0], [0], list[str]()
        for piece in re.finditer("[^\0-/:-@[-`{-\x7f]+", self.all):
            self._starts.append(piece.start())
            self._before.append(len(self.words))
            self.words += words(piece[0])

    def number(self, place: int) -> int:
        """Returns how many words are before a character."""
        i = bisect.bisect_right(self._starts, place) - 1
        return self._before[i] + len(words(self.all[self._starts[i]:place]))


def _cut(text: str, gone: list[tuple[int, int]]) -> str:
    """Returns a text without some words: what follows one goes with it, up to the next word."""
    out, at = "", 0
    for start, end in gone:
        follows = next((place for place in range(max(end, at), len(text)) if words(text[place])), None)
        out += text[at:start]
        before, at = out[-64:], end if follows is None else follows
        if at > start and len(words(before + text[at:at + 64])) < len(words(before)) + len(words(text[at:at + 64])):
            out += " "
    return out + text[at:]


def _without_passages(record: _Texts, gone: list[list[str]]) -> list[str]:
    places, made, base = sorted((int(row[1]) - 1, int(row[2])) for row in gone), [], 0
    for text in record.texts:
        mine: list[tuple[int, int]] = []
        for start, end in ((start - base, end - base) for start, end in places if base <= start < base + len(text)):
            if mine and (start <= mine[-1][1] or not words(text[mine[-1][1]:start])):
                mine[-1] = mine[-1][0], max(end, mine[-1][1])
            else:
                mine.append((start, end))
        made.append(_cut(text, mine))
        base += len(text) + 1
    return made


class _Gone(NamedTuple):
    """Where what goes from a record begins, ascending, and the greatest end up to there."""

    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, rows: list[list[str]]) -> "_Gone":
        places = sorted((int(row[1]), int(row[2])) for row in rows)
        return cls([start for start, _ in places], list(itertools.accumulate((end for _, end in places), max)))

    def meets(self, start: int, end: int) -> bool:
        i = bisect.bisect_right(self.starts, end)
        return i > 0 and self.ends[i - 1] >= start


def _equal_words(some: Sequence[str], others: Sequence[str]) -> int:
    return next((i for i, (x, y) in enumerate(zip(some, others)) if x != y), min(len(some), len(others)))


def _check_passage(row: list[str], record: _Texts, first: _Texts, gone: _Gone | None, how: argparse.Namespace) -> None:
    """Checks that words stand at the first copy, in a run of enough words, and do not go from there."""
    (start, end), (there, its_end) = ([text.number(int(place)) for place in (int(a) - 1, b)] for text, (a, b) in ((record, row[1:3]), (first, row[4:6])))
    if not start < end or record.words[start:end] != first.words[there:its_end]:
        raise Wrong(f'characters {row[1]} to {row[2]} of "{row[0]}" are not those of "{row[3]}", {row[4]} to {row[5]}')
    if gone and gone.meets(int(row[4]), int(row[5])):
        raise Wrong(f'characters {row[4]} to {row[5]} of "{row[3]}", the first copy of "{row[0]}", are removed, too')
    before = _equal_words(record.words[max(start - how.min_run, 0):start][::-1], first.words[max(there - how.min_run, 0):there][::-1])
    behind = _equal_words(record.words[end:end + how.min_run], first.words[its_end:its_end + how.min_run])
    if before + end - start + behind < how.min_run:
        raise Wrong(f'characters {row[1]} to {row[2]} of "{row[0]}" are in no run of {how.min_run} words that stands in "{row[3]}"')


def check_passages(how: argparse.Namespace) -> str:
    by_record: dict[str, list[list[str]]] = {}
    removed = set()
    for row in _read_report(how.report):
        if row[1] == "N":
            removed.add(row[0])
        else:
            by_record.setdefault(row[0], []).append(row)
    if missing := removed - by_record.keys():
        raise Wrong(f'"{min(missing)}" goes, but none of its words')
    gone = {} if how.against else {id: _Gone.of(rows) for id, rows in by_record.items()}
    wanted = {row[3] for rows in by_record.values() for row in rows}
    known: dict[str, _Texts] = {}
    for record in Side(how, how.skip_errors).records(how.against or _files_of(how)):
        if record.id in wanted:
            known[record.id] = _Texts(_texts_of(record.fields, how.field))
    if missing := wanted - known.keys():
        raise Wrong(f'there is no record "{min(missing)}", which the report names')

    def change(record: Record) -> Any:
        if not (rows := by_record.get(record.id, [])):
            return record.fields
        texts = _Texts(_texts_of(record.fields, how.field))
        for row in rows:
            _check_passage(row, texts, known[row[3]], gone.get(row[3]), how)
        made = _without_passages(texts, rows)
        if record.id in removed and sum(len(words(text)) for text in made) >= how.min_left:
            raise Wrong(f'"{record.id}" should not have gone: it keeps {how.min_left} words or more')
        rest = iter(made)
        return None if record.id in removed else _with_texts(record.fields, how.field, lambda _: next(rest))

    found = _compare(how, dict.fromkeys(by_record, ""), change)
    return f"{found.records} records: {found.stay} in \"{how.out}\", without {sum(map(len, by_record.values()))} passages, each of which stands in another place" + _told(found)


# ---- The program -----------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m neardup.verify", description="Checks that what neardup dedupe has removed is what its report says; options are those of the run.")
    add = parser.add_argument
    add("files", nargs="+", metavar="IN", help="the files that were read")
    add("out", metavar="OUT", help="what stays: a file, or the folder of --output")
    add("report", metavar="REPORT", help="the report")
    add("-i", "--input", dest="format", choices=("jsonl", "csv", "tsv", "parquet"), help="the format (by the name of the first file)")
    add("-f", "--field", default="text")
    add("--id")
    add("--separator")
    add("-a", "--against", action="append", default=[], metavar="FILE")
    add("-s", "--scheme", default="word 3")
    add("-t", "--threshold", type=float, default=0.8)
    add("--contained", type=float, default=0.0)
    add("--common", type=float, default=0.0)
    add("--source")
    add("--containment", action="store_true")
    add("--multiset", action="store_true")
    add("--drop", default="others")
    add("--unit", choices=("record", "line", "passage"), default="record")
    add("--min-words", type=int, default=5)
    add("--min-run", type=int, default=50)
    add("--min-left", type=int, default=1)
    for name in "--mask", "--lexicon":
        add(name, help="similarities are not looked at then")
    for *names, action in ("-j", "--jobs", "store"), ("-m", "--memory", "store"), ("--minhash", "store"), ("--decide", "store"), ("--best", "store"), ("--nearest", "store_true"), ("--shingles", "store_true"):
        add(*names, action=action, help=argparse.SUPPRESS)
    add("--skip-errors", action="store_true")
    add("--sample", type=int, default=0, help="the number of similarities that are looked at (all)")
    add("--seed", type=int, default=1)
    add("--audit", metavar="FIELD", help="tells what went by this field of both records, with three of each to read")
    return parser


def _fail(code: int, message: object) -> NoReturn:
    print(f"neardup.verify: {message}", file=sys.stderr)
    sys.exit(code)


def main(arguments: list[str] | None = None) -> None:
    how = _parser().parse_args(arguments)
    name = how.files[0].lower().removesuffix(".gz").removesuffix(".zst")
    if how.audit and how.unit != "record":
        _fail(2, "--audit is of whole records")
    how.format = how.format or next((kind for kind in ("csv", "tsv", "parquet") if name.endswith(kind)), "jsonl")
    how.schemas = {}
    how.separator = how.separator or {"tsv": "\t"}.get(how.format, ",")
    csv.field_size_limit(sys.maxsize)
    try:
        print({"record": check_records, "line": check_lines, "passage": check_passages}[how.unit](how))
    except Wrong as error:
        _fail(1, error)
    except (Unreadable, OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        _fail(2, error)


if __name__ == "__main__":
    main()
