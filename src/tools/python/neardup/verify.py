"""python -m neardup.verify in.jsonl kept.jsonl report.tsv: checks that a removal by neardup dedupe lost nothing.

It shares no code with the rest of the package: texts are cut into words and shingles here, by doc/explanation/recipe.md, from
characters.txt, which has the properties of characters.  Exit 0 if all is as the report says; 1 with what is not; 2 if a file cannot be read.
"""

import argparse
import bisect
import csv
import functools
import gzip
import itertools
import json
import pathlib
import random
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module
from typing import Any, BinaryIO, NamedTuple, NoReturn

_MARK, _ALONE, _CLASS, _ASSIGNED, _IGNORED, _BOUNDARY = 2, 3, 3, 8, 16, 64
_SEGMENT = 32
_BOM = b"\xef\xbb\xbf"
_COPIED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LINE_END = re.compile("(\r\n|[\n\r\u2028\u2029])")


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


def _open(path: str) -> BinaryIO:
    file: Any = sys.stdin.buffer if path == "-" else open(path, "rb")  # noqa: SIM115
    head = file.peek(4)[:4]
    if head == b"\x28\xb5\x2f\xfd":
        raise Unreadable(f'"{path}" is packed by zstd: unpack it first')
    return gzip.open(file) if head[:2] == b"\x1f\x8b" else file  # type: ignore[return-value]


def _rows(file: BinaryIO, how: argparse.Namespace) -> Iterator[bytes]:
    """Yields the records of a file, without the byte order mark before them."""
    first, row = True, b""
    ends = re.compile(rb'(?:(?:"(?:[^"]|"")*"[^%b\n]*|[^"%b\n][^%b\n]*)?(?:%b|(\n)))*' % ((re.escape(how.separator.encode()),) * 4))
    for line in file:
        row, first = row + (line.removeprefix(_BOM) if first else line), False
        if how.format == "csv" and not (line.endswith(b"\n") and row.count(b'"') % 2 == 0):
            found = ends.fullmatch(row)
            if not found or not found[1]:
                continue
        yield row
        row = b""
    if row:
        yield row


def _cells(row: bytes, how: argparse.Namespace) -> list[str]:
    text = row.decode().rstrip("\r\n")
    if how.format == "csv":
        return next(csv.reader([text], delimiter=how.separator), [""]) if "\n" not in text else next(csv.reader(text.splitlines(True), delimiter=how.separator))
    cells = re.findall(r"((?:\\.|[^\\%s])*)(?:%s|$)" % ((re.escape(how.separator),) * 2), text)[:-1] or [""]
    return ["" if cell == "\\N" else re.sub(r"\\(.)", lambda m: _COPIED.get(m[1], m[1]), cell) for cell in cells]


def _walk(value: Any, steps: list[str]) -> Iterator[str]:
    if not steps:
        yield from [value] if isinstance(value, str) else []
    elif steps[0] == "[]":
        for element in value if isinstance(value, list) else []:
            yield from _walk(element, steps[1:])
    elif isinstance(value, dict):
        yield from _walk(value.get(steps[0]), steps[1:])


def value_of(fields: Any, name: str) -> str:
    """Returns the text in a field."""
    if name in fields:
        return fields[name] if isinstance(fields[name], str) else ""
    return "\n".join(_walk(fields, name.replace("[]", ".[]").split(".")))


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
        how.schemas.append((path, file.schema_arrow))
        # pyarrow reads what has dictionaries within of one row group at a time.
        for batch in itertools.chain.from_iterable(file.iter_batches(4096, row_groups=[group]) for group in range(file.metadata.num_row_groups)):
            for row in zip(*map(_values, batch.columns)):
                number, fields = number + 1, dict(zip(batch.schema.names, row))
                yield Record(number, repr(row).encode(), _id_of(fields, how.id, number), fields)
    except ImportError:
        raise Unreadable("Parquet files are read by pyarrow, which is not here") from None
    except ValueError as error:
        raise Unreadable(f'could not read "{path}": {error}') from None


def records(paths: Iterable[str], how: argparse.Namespace, left_out: list[int] | None = None, heads: list[bytes] | None = None) -> Iterator[Record]:
    """Yields the records of files; the numbers of those that cannot be read go to left_out, if it is given."""
    number = 0
    for path in paths:
        if how.format == "parquet":
            for record in _of_parquet(path, how, number):
                number = record.number
                yield record
            continue
        names = None
        for row in _rows(_open(path), how):
            if how.format != "jsonl" and names is None:
                names = _cells(row, how)
                if heads is not None:
                    heads.append(row)
                continue
            if how.format == "jsonl" and not row.strip(b" \t\r\n"):
                continue
            number += 1
            try:
                fields = _fields(row, names, how)
            except Unreadable as error:
                if left_out is None:
                    raise Unreadable(f'record {number} of "{path}" cannot be read: {error}') from None
                left_out.append(number)
                continue
            yield Record(number, row if row.endswith(b"\n") else row + b"\n", _id_of(fields, how.id, number), fields)


def _read_report(path: str) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="\n") as file:
        return [[re.sub(r"\\(.)", lambda m: _COPIED.get(m[1], m[1]), cell) for cell in line.rstrip("\n").split("\t")] for line in file]


# ---- Checks ----------------------------------------------------------------


class Found(NamedTuple):
    """What was checked."""

    records: int
    stay: int
    left_out: int


def _same_marks(how: argparse.Namespace) -> None:
    marked = sorted((_open(path).read(3) == _BOM, path) for path in (how.files[0], how.out))
    if marked[0][0] != marked[1][0]:
        raise Wrong(f'"{marked[1][1]}" has a byte order mark, and "{marked[0][1]}" has none')


def _compare(how: argparse.Namespace, removed: "set[str]", needed: dict[str, str], change: Any = None) -> Found:
    """Compares the records that are not removed with the output, in order, and gathers the texts that are needed."""
    heads: list[bytes] = []
    left_out: list[int] = []
    out, seen, stay, number = records([how.out], how, heads=heads), set(), 0, 0
    mine: list[bytes] = []
    for record in records(how.files, how, left_out if how.skip_errors else None, mine):
        number += 1
        if record.id in needed:
            if record.id in seen:
                raise Wrong(f'the id "{record.id}" occurs twice: write the report without --id')
            seen.add(record.id)
            needed[record.id] = value_of(record.fields, how.field)
        if record.id in removed:
            continue
        kept = next(out, None)
        stay += 1
        if kept is None or not (change(record, kept) if change else kept.raw == record.raw):
            raise Wrong(f'record {record.number} is not in "{how.out}" as it was, nor in the report')
    if (more := next(out, None)) is not None:
        raise Wrong(f'record {more.number} of "{how.out}" is no record of what was read')
    if missing := needed.keys() - seen:
        raise Wrong(f'there is no record "{min(missing)}", which the report names')
    for path, schema in how.schemas:
        if not schema.equals(how.schemas[0][1], check_metadata=True):
            raise Wrong(f'"{path}" has other columns, types or metadata than "{how.schemas[0][0]}"')
    if mine[:1] and [head.rstrip(b"\r\n") for head in heads] != [mine[0].rstrip(b"\r\n")]:
        raise Wrong("the names of columns are other ones")
    return Found(number, stay, len(left_out))


def _common_ones(how: argparse.Namespace) -> set[Any]:
    """Returns the shingles that --common leaves out: those of many distinct texts, of all or of a source."""
    seen, texts, counts = set(), Counter[str](), Counter[tuple[str, Any]]()
    for files, source in (how.files, how.source), (how.against, None):
        for record in records(files, how, [] if how.skip_errors else None):
            some = frozenset(shingles(value_of(record.fields, how.field), how.scheme))
            own = _id_of(record.fields, source, 0) if source else ""
            for place in {"", own}:
                if (place, some) not in seen:
                    seen.add((place, some))
                    texts[place] += 1
                    counts.update((place, shingle) for shingle in some)
    return {shingle for (place, shingle), count in counts.items() if count >= max(how.common * texts[place], 20)}


def _texts_of_others(how: argparse.Namespace, wanted: set[str]) -> dict[str, str]:
    found = {record.id: value_of(record.fields, how.field) for record in records(how.against, how) if record.id in wanted} if how.against else {}
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
    found = _compare(how, removed, needed)
    others = _texts_of_others(how, {row[1] for row in rows if row[3] == "against"})
    exact = [row for row in rows if row[4] == "texts" and how.scheme.split()[0] in ("word", "char", "anychar") and not how.mask]
    common = _common_ones(how) if how.common else set()
    looked_at = random.Random(how.seed).sample(exact, min(how.sample, len(exact))) if how.sample else exact
    for row in looked_at:
        _check_similarity(row, needed[row[0]], (others if row[3] == "against" else needed)[row[1]], how, common)
    return (f"{found.records} records: {found.stay} in \"{how.out}\", {len(rows)} removed; {len(looked_at)} similarities are those of the texts, "
            f"{len(rows) - len(looked_at)} were not looked at, {sum(row[4] != 'texts' for row in rows)} of them estimated" + _told(found))


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


def _without(text: str, gone: dict[int, list[str]]) -> str:
    lines, ends = _lines(text)
    stay = [i for i in range(len(lines)) if i + 1 not in gone]
    return "".join((ends[i - 1] if n else "") + lines[i] for n, i in enumerate(stay))


def check_lines(how: argparse.Namespace) -> str:
    rows = _read_report(how.report)
    by_record: dict[str, dict[int, list[str]]] = {}
    for row in rows:
        by_record.setdefault(row[0], {})[int(row[1])] = row
    needed = dict.fromkeys(by_record, "")
    before: dict[str, set[tuple[str, ...]]] = {"duplicate": set(), "against": set()}

    def gather(text: str, where: str) -> None:
        before[where].update(tuple(words(line)) for line in _lines(text)[0])

    removed = {record.id for record in records(how.files, how, [] if how.skip_errors else None)
               if len(by_record.get(record.id, ())) == len(_lines(value_of(record.fields, how.field))[0])}

    def is_changed(record: Record, kept: Record) -> bool:
        gone = by_record.get(record.id, {})
        for number, row in gone.items():
            _check_line(row, _lines(value_of(record.fields, how.field))[0][number - 1], before, how)
        gather(value_of(kept.fields, how.field), "duplicate")
        if not gone:
            return kept.raw == record.raw
        return bool({**record.fields, how.field: _without(record.fields[how.field], gone)} == kept.fields)

    for record in records(how.against, how) if how.against else ():
        gather(value_of(record.fields, how.field), "against")
    found = _compare(how, removed, needed, is_changed)
    for number in removed:
        for place, row in by_record[number].items():
            _check_line(row, _lines(needed[number])[0][place - 1], before, how)
    return f"{found.records} records: {found.stay} in \"{how.out}\", without {len(rows)} lines, each of which stands in another" + _told(found)


def _check_line(row: list[str], line: str, before: dict[str, set[tuple[str, ...]]], how: argparse.Namespace) -> None:
    tokens = tuple(words(line))
    if row[2] == "empty" and tokens or row[2] != "empty" and len(tokens) < how.min_words:
        raise Wrong(f'line {row[1]} of "{row[0]}" should not have gone: it has {len(tokens)} words')
    if row[2] != "empty" and tokens not in before[row[2]] and not how.mask:
        raise Wrong(f'line {row[1]} of "{row[0]}" stands nowhere else')


# ---- The program -----------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m neardup.verify", description="Checks that what neardup dedupe has removed is what its report says; options are those of the run.")
    add = parser.add_argument
    add("files", nargs="+", metavar="IN", help="the files that were read")
    add("out", metavar="OUT", help="what stays")
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
    add("--unit", choices=("record", "line"), default="record")
    add("--min-words", type=int, default=5)
    add("--mask", help="similarities of masked texts are not looked at")
    add("--skip-errors", action="store_true")
    add("--sample", type=int, default=0, help="the number of similarities that are looked at (all)")
    add("--seed", type=int, default=1)
    return parser


def _fail(code: int, message: object) -> NoReturn:
    print(f"neardup.verify: {message}", file=sys.stderr)
    sys.exit(code)


def main(arguments: list[str] | None = None) -> None:
    how = _parser().parse_args(arguments)
    name = how.files[0].lower().removesuffix(".gz")
    how.format = how.format or next((kind for kind in ("csv", "tsv", "parquet") if name.endswith(kind)), "jsonl")
    how.schemas = []
    how.separator = how.separator or {"tsv": "\t"}.get(how.format, ",")
    csv.field_size_limit(sys.maxsize)
    try:
        if how.format != "parquet":
            _same_marks(how)
        print(check_lines(how) if how.unit == "line" else check_records(how))
    except Wrong as error:
        _fail(1, error)
    except (Unreadable, OSError, EOFError, UnicodeDecodeError) as error:
        _fail(2, error)


if __name__ == "__main__":
    main()
