"""python -m neardup dedupe in.parquet -o out.parquet: what the command neardup does with lines, for Parquet files."""

import argparse
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

from . import Lexicon, NeardupError, __version__
from ._library import DEFAULT, JOBS_MOST

# As of the command.
_UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_USAGE, _INPUT, _MEMORY, _INTERRUPT = 1, 2, 3, 130
_TOO_LARGE = 4
# Options that have no meaning for the other unit.
_OF_PASSAGES = ("min_run", "min_left")
_OF_RECORDS = ("scheme", "minhash", "shingles", "lexicon", "common", "source", "threshold", "containment", "multiset", "nearest", "decide", "contained")


def _fail(code: int, message: object) -> NoReturn:
    print(f"neardup: {message}", file=sys.stderr)
    sys.exit(code)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _fail(_USAGE, f"{message}: try 'python -m neardup dedupe --help'")


def _memory(text: str) -> int:
    try:
        unit = text[-1:] if text[-1:].isalpha() else ""
        size = float(text[:len(text) - len(unit)]) * _UNITS.get(unit, 0)
        if 1e6 <= size <= 1e18:
            return int(size)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f'"{text}" is no size of at least 1M, such as 800M or 4G')


def _shape(text: str) -> tuple[int, ...]:
    try:
        k, b = map(int, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" is no K,B, such as {DEFAULT.k},{DEFAULT.b}') from None
    return k, b


def _jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= JOBS_MOST:
        raise argparse.ArgumentTypeError(f'"{text}" is no number of threads, whole, from 1 to {JOBS_MOST}')
    return int(text)


def _parser() -> _Parser:
    parser = _Parser("python -m neardup", description="The command neardup for Parquet files, by pyarrow.")
    parser.add_argument("--version", action="version", version=f"neardup {__version__}")
    dedupe = parser.add_subparsers(dest="command", required=True).add_parser("dedupe", help="writes the rows that stay when near-duplicates go")
    add = dedupe.add_argument
    add("files", nargs="+", metavar="FILE", help="Parquet files")
    add("-o", "--output", required=True, help="a file; or of several files, a folder for one of each name")
    add("-f", "--field", default="text", help="the column of the text (text), or a field in it, such as data.text or messages[].content")
    add("--id", help="the column of the id; without it rows are numbered from 1")
    add("-s", "--scheme", help="shingles, such as 'char 5' ('word 3')")
    add("--minhash", type=_shape, default=(None, None), metavar="K,B", help=f"the shape of signatures ({DEFAULT.k},{DEFAULT.b}, or {DEFAULT.decided_k},{DEFAULT.decided_b} where texts decide)")
    add("--shingles", action="store_true", help="compares the sets of shingles")
    add("--lexicon", metavar="FILE", help="weights of shingles, as 'neardup learn' makes them")
    add("--common", type=float, metavar="SHARE", help="leaves out the shingles that at least this share of the distinct texts has, and at least 20 of them")
    add("--source", metavar="NAME", help="with --common: a column; leaves out what the texts of one value share, too")
    add("-t", "--threshold", type=float, default=DEFAULT.threshold, help=f"the least similarity ({DEFAULT.threshold})")
    add("--containment", action="store_true", help="compares sets by containment")
    add("--multiset", action="store_true", help="compares sets as multisets")
    add("--nearest", action="store_true", help="joins the most similar keeper, not the first")
    add("--decide", choices=("texts", "signatures"), help="what decides on rows whose signatures are similar (texts)")
    add("--contained", type=float, metavar="SHARE", help="a row goes if at least this share of its shingles is in the one that stays")
    add("-a", "--against", metavar="FILE", help="drops what is similar to a row of this Parquet file")
    add("--report", metavar="FILE", help="a file for id, keeper, similarity, duplicate or against, and texts or signatures, which decided, of each row that is dropped")
    add("--unit", choices=("record", "passage"), default="record", help="passage: runs of words that stood before go, or with --against those that stand there")
    add("--min-run", type=int, default=50, metavar="NUMBER", help="with --unit passage: runs of fewer words stay (50)")
    add("--min-left", type=int, default=1, metavar="NUMBER", help="with --unit passage: a row that lost words goes if it keeps fewer, at most --min-run (1)")
    add("--skip-errors", action="store_true", help="leaves out files that cannot be read, or are damaged, and says which; each is read once more before")
    add("-j", "--jobs", type=_jobs, default=min(os.cpu_count() or 1, JOBS_MOST), help="threads (processors)")
    add("-m", "--memory", type=_memory, default=0, help="memory to compare in, such as 800M or 4G (half of the machine's)")
    return parser


def _dedupe(given: argparse.Namespace) -> None:
    from ._parquet import dedupe_files
    from ._passages import check_arguments
    passage, defaults = given.unit == "passage", _parser().parse_args(["dedupe", "", "--output", ""])
    for name in _OF_RECORDS if passage else _OF_PASSAGES:
        if getattr(given, name) != getattr(defaults, name):
            _fail(_USAGE, f"--{name.replace('_', '-')} is for {'whole records, not for --unit passage' if passage else '--unit passage'}")
    check_arguments(given.min_run, given.min_left)
    lexicon = None
    if given.lexicon:
        with open(given.lexicon, "rb") as file:
            lexicon = Lexicon(file.read())
    if given.decide and (given.shingles or given.multiset or given.containment):
        _fail(_USAGE, "--shingles compares texts as --decide texts does: leave one out")
    if given.lexicon and given.common is not None:
        _fail(_USAGE, "--lexicon and --common exclude each other")
    if given.common is not None and given.multiset:
        _fail(_USAGE, "--common compares sets, not multisets")
    if given.source and given.common is None:
        _fail(_USAGE, "--source is for --common")
    sets = {"multiset": given.multiset, "containment": given.containment}
    keeping = {"threshold": given.threshold, "nearest": given.nearest, "contained": given.contained, "memory": given.memory, "jobs": given.jobs,
               **sets}
    making = {"k": given.minhash[0], "b": given.minhash[1], "scheme": given.scheme, "lexicon": lexicon, "jobs": given.jobs, "decide": given.decide or "texts",
              "shingles": given.shingles or any(sets.values())}
    dedupe_files(given.files, given.output, field=given.field, id=given.id, source=given.source, common=given.common, against=given.against,
                 report=given.report, skip_errors=given.skip_errors,
                 told=lambda count: print(f"neardup: shingles that many texts have, and are left out: {count}", file=sys.stderr),
                 keeping=keeping, making=making,
                 passages={"min_run": given.min_run, "min_left": given.min_left} if passage else None,
                 done=lambda stay, rows: sys.stderr.isatty() and print(f"{stay:,} of {rows:,} rows stay", file=sys.stderr))


def main(arguments: list[str] | None = None) -> None:
    given: Any = _parser().parse_args(arguments)
    try:
        import_module("pyarrow.parquet")
        # Earlier versions do not have it.
        import_module("pyarrow").string_view  # noqa: B018
    except (AttributeError, ImportError):
        _fail(_INPUT, "Parquet files are read by pyarrow 16 or later, which is not here: pip install 'neardup[parquet]'")
    from ._parquet import InputError, pyarrow
    try:
        _dedupe(given)
    except NeardupError as error:
        _fail(_MEMORY if error.code == _TOO_LARGE else _USAGE, error)
    except (InputError, OSError, TypeError, pyarrow.ArrowException) as error:
        _fail(_INPUT, error)
    except MemoryError:
        _fail(_MEMORY, "there is too little memory")
    except KeyboardInterrupt:
        sys.exit(_INTERRUPT)


if __name__ == "__main__":
    main()
