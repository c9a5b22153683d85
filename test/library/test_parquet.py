"""Tests of python -m neardup, on files of pyarrow.  Prints the lines of TAP."""

import contextlib
import datetime
import decimal
import io
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import uuid

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet

import neardup
from neardup import _footer
from neardup.__main__ import main
from test_python import HERE, Tap

WORDS = [" ".join(f"w{i * 1000 + word}" for word in range(60)) for i in range(250)]
TEXTS = [*WORDS, None, "", *(f"{text} and more" for text in WORDS[:40]), *WORDS[:10]]
IDS = [f"r\t{i}" for i in range(len(TEXTS))]
STAY = IDS[:252]
SCHEMA = pyarrow.schema([pyarrow.field("id", pyarrow.string(), metadata={"a": "b"}), ("n", pyarrow.decimal128(9, 2)), ("when", pyarrow.timestamp("ms", "UTC")),
                         ("text", pyarrow.large_string()), ("tags", pyarrow.list_(pyarrow.dictionary(pyarrow.int32(), pyarrow.string())))], {"owner": "ours"})
TABLE = pyarrow.table([IDS, range(len(IDS)), range(len(IDS)), TEXTS, [["x", str(i % 3)] for i in range(len(IDS))]], SCHEMA)


# Values of each type of pyarrow that Parquet stores, beside null.
TWO = {
    pyarrow.bool_(): [True, False], **{kind: [-100, 100] for kind in (pyarrow.int8(), pyarrow.int16())}, pyarrow.int32(): [-2**31, 2**31 - 1], pyarrow.int64(): [-2**63, 2**63 - 1],
    pyarrow.uint8(): [0, 255], pyarrow.uint16(): [0, 65535], pyarrow.uint32(): [0, 2**32 - 1], pyarrow.uint64(): [0, 2**64 - 1],
    pyarrow.float16(): [numpy.float16(-0.5), numpy.float16("nan")], pyarrow.float32(): [-0.0, float("nan")], pyarrow.float64(): [-0.0, float("inf")],
    pyarrow.string(): ["", "é"], pyarrow.large_string(): ["a", "b"], pyarrow.binary(): [b"", b"\xff"],
    pyarrow.large_binary(): [b"a", b"b"], pyarrow.binary(3): [b"abc", b"\xff\xff\xff"],
    **{kind: [decimal.Decimal("-1.50"), decimal.Decimal("2.25")] for kind in (pyarrow.decimal128(38, 2), pyarrow.decimal256(50, 2))},
    pyarrow.date32(): [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)], pyarrow.date64(): [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)],
    **{kind(unit): [1, 86399] for kind, units in ((pyarrow.time32, ("s", "ms")), (pyarrow.time64, ("us", "ns")), (pyarrow.duration, ("s", "ms", "us", "ns"))) for unit in units},
    **{pyarrow.timestamp(unit, zone): [-1, 2**33 + 1] for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Asia/Kathmandu")},
    pyarrow.list_(pyarrow.string()): [[], ["a", None]], pyarrow.large_list(pyarrow.uint64()): [[2**64 - 1], []], pyarrow.list_(pyarrow.float32(), 2): [[1, 2], [3, 4]],
    pyarrow.struct([("a", pyarrow.list_(pyarrow.struct([("b", pyarrow.timestamp("ns"))])))]): [{"a": [{"b": 1}, None]}, {"a": None}],
    pyarrow.map_(pyarrow.string(), pyarrow.list_(pyarrow.time64("ns"))): [[("k", [1])], []], pyarrow.dictionary(pyarrow.int8(), pyarrow.string(), ordered=True): ["low", "high"], pyarrow.null(): [None, None]}

# Of later versions than the least.
LATER = hasattr(pyarrow, "uuid")
if LATER:
    TWO |= {pyarrow.string_view(): ["a", "longer than a view has in it"], pyarrow.binary_view(): [b"a", b"b"], pyarrow.uuid(): [bytes(16), b"\xff" * 16], **{kind: [decimal.Decimal("-1.50"), decimal.Decimal("2.25")] for kind in (pyarrow.decimal32(5, 2), pyarrow.decimal64(12, 2))}}


def with_texts(count):
    """Returns numbers of so many rows that stay, and that they are similar to, and their texts."""
    return [*range(count)] * 2, [WORDS[i % count] for i in range(2 * count)]


def arrow_table():
    """Returns a table of six rows, of which three stay, with all types of pyarrow."""
    numbers, texts = with_texts(3)
    columns = {str(kind): pyarrow.array(([*two, two[0] if pyarrow.types.is_fixed_size_list(kind) else None] * 2), kind.storage_type if isinstance(kind, pyarrow.BaseExtensionType) else kind) for kind, two in TWO.items()}
    columns = {name: pyarrow.ExtensionArray.from_storage(kind, column) if isinstance(kind, pyarrow.BaseExtensionType) else column for (name, column), kind in zip(columns.items(), TWO)}
    return pyarrow.table({"number": numbers, "text": texts, **columns})


def polars_frame():
    """Returns a frame of six rows, of which three stay, with all types of Polars that Parquet stores."""
    numbers, texts = with_texts(3)
    few = {polars.Boolean: [True, False], polars.Float32: [-0.0, 1], polars.Float64: [1, 2], polars.String: ["a", ""], polars.Binary: [b"a", b"\xff"], polars.Date: [-700000, 2**20],
           polars.Time: [0, 10**9 + 1], polars.Null: [None, None], polars.Categorical: ["b", "a"], polars.Enum(["z", "a", "never"]): ["a", "z"], polars.Decimal(20, 3): [decimal.Decimal("1.5")] * 2,
           polars.List(polars.Int8): [[1, None], []], polars.Array(polars.Int16, 2): [[1, 2], [3, 4]], polars.Struct({"a": polars.List(polars.Struct({"b": polars.UInt8}))}): [{"a": [{"b": 1}, None]}, {"a": []}]}
    few |= {kind: [0, 127] for kind in (polars.Int8, polars.Int16, polars.Int32, polars.Int64, polars.UInt8, polars.UInt16, polars.UInt32, polars.UInt64)}
    few |= {kind: [-1, 2**40] for unit in ("ms", "us", "ns") for kind in (polars.Duration(unit), polars.Datetime(unit), polars.Datetime(unit, "Asia/Kathmandu"))}
    return polars.DataFrame([polars.Series("number", numbers), polars.Series("text", texts), *(polars.Series(str(kind), [*two, two[0] if "Array" in str(kind) else None] * 2, kind) for kind, two in few.items())])


def verify(*arguments):
    """Returns the exit code of neardup.verify, and what it says."""
    done = subprocess.run([sys.executable, "-m", "neardup.verify", *map(str, arguments)], cwd=HERE, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def run(*arguments, code=0):
    """Runs the program, which ends with this code; returns what it says."""
    said, ended = io.StringIO(), 0
    with contextlib.redirect_stderr(said):
        try:
            main(["dedupe", *map(str, arguments)])
        except SystemExit as end:
            ended = end.code
    assert ended == code, (ended, said.getvalue())
    return said.getvalue()


class Parquet(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out.parquet"
        self.file = self.write("in.parquet", TABLE)

    def write(self, name, table, **how):
        (self.folder / name).parent.mkdir(exist_ok=True)
        pyarrow.parquet.write_table(table, self.folder / name, **{"row_group_size": 70, "compression": "zstd", **how})
        return self.folder / name

    def test_file(self):
        """Columns, types, metadata, compression and the size of row groups stay as they were."""
        run(self.file, "-o", self.out)
        made, was = pyarrow.parquet.ParquetFile(self.out), pyarrow.parquet.ParquetFile(self.file)
        self.assertTrue(made.schema_arrow.equals(was.schema_arrow, check_metadata=True))
        self.assertEqual(pyarrow.parquet.read_table(self.out).to_pylist(), TABLE.slice(0, 252).to_pylist())
        self.assertEqual([made.metadata.row_group(i).num_rows for i in range(made.metadata.num_row_groups)], [70, 70, 70, 42])
        self.assertEqual(made.metadata.row_group(0).column(3).compression, "ZSTD")
        # The file itself, and files that pyarrow cannot filter or has no row of.
        run(self.file, "-o", self.file, "--report", self.folder / "report")
        self.assertEqual(pyarrow.parquet.read_table(self.file)["id"].to_pylist(), STAY)
        for some in TABLE.slice(0, 0), *([TABLE.set_column(3, "text", pyarrow.array(TEXTS, pyarrow.string_view()))] if LATER else []):
            run(self.write("some.parquet", some, compression="none"), "-o", self.out)
            self.assertEqual(pyarrow.parquet.read_table(self.out)["id"].to_pylist(), STAY if len(some) else [])
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"in.parquet", "some.parquet", "out.parquet", "report"})

    def told_of(self, path, half):
        """Returns what a file of a row group says of its columns, and what three readers find in them, or in the first half of each."""
        file, database = pyarrow.parquet.ParquetFile(path), duckdb.connect()
        rows = slice(0, file.metadata.num_rows // 2 if half else None)
        said = database.execute("SELECT * EXCLUDE (file_name) FROM parquet_schema($1)", [str(path)]).fetchall(), file.schema, file.schema_arrow, file.metadata.metadata
        names = file.schema_arrow.names
        columns = {name: (repr(database.execute(f'SELECT "{name}" FROM read_parquet($1)', [str(path)]).fetchall()[rows]), [str(item) for item in file.read(columns=[name]).column(0)[rows].chunks]) for name in names}
        return said, columns, repr(polars.read_parquet(path)[rows].to_dict(as_series=False)) if "UInt64" in names else ""

    def check_carried(self, file):
        """Checks that the first half of a file comes out as it was: what it says of its columns, and, by three readers, what is in them."""
        run(file, "-o", self.out)
        self.assertEqual(*(self.told_of(path, path == file) for path in (file, self.out)))
        # What says where values are is right of those that it has.
        groups = pyarrow.parquet.ParquetFile(self.out).metadata.row_group(0)
        return {groups.column(i).path_in_schema for i in range(groups.num_columns) if groups.column(i).is_stats_set}

    def test_pyarrow(self):
        table = arrow_table()
        for how in ({}, {"store_schema": False, "use_compliant_nested_type": False, "compression": {"text": "gzip"}}, {"data_page_version": "2.0", "version": "1.0", "coerce_timestamps": "us", "allow_truncated_timestamps": True},
                    {**({"store_decimal_as_integer": True, "write_time_adjusted_to_utc": True} if LATER else {}), "use_dictionary": False}):
            ordered = self.check_carried(self.write("pyarrow.parquet", table, **how))
            self.assertLessEqual({"number", "text", "int64", "date32[day]", "timestamp[us]"}, ordered)
            self.assertFalse({"uint64", "halffloat", "decimal256(50, 2)"} & ordered)

    def test_old_timestamps(self):
        """Timestamps of 96 bits, as Spark writes them by its defaults."""
        columns = ["number", "text", *(str(kind) for kind in TWO if "timestamp" in str(kind) and not "<" in str(kind))]
        self.check_carried(self.write("int96.parquet", arrow_table().select(columns), use_deprecated_int96_timestamps=True, store_schema=False))
        # The last second of the year 9999, and the first of the year 1, which nanoseconds of 64 bits do not hold.
        far = [(86399 * 10**9).to_bytes(8, "little") + (5373484).to_bytes(4, "little"), bytes(8) + (1721426).to_bytes(4, "little"), None]
        for dictionary in True, False:
            file = self.write("far.parquet", pyarrow.table({"number": with_texts(3)[0], "text": with_texts(3)[1], "far": pyarrow.array(far * 2, pyarrow.binary(12))}), store_schema=False, use_dictionary=dictionary)
            data = file.read_bytes()
            # The column's type, 7 of 12 bytes, and that of its chunk become 3.
            at = data.index(b"\x15\x0e\x15\x18\x15\x02\x18\x03far")
            data = data[:at + 1] + b"\x06" + data[at + 2:]
            file.write_bytes(data)
            self.assertEqual(duckdb.sql(f"SELECT far::VARCHAR FROM '{file}' LIMIT 2").fetchall(), [("9999-12-31 23:59:59",), ("0001-01-01 00:00:00",)])
            self.check_carried(file)
            run(file, "-o", self.out, "--id", "far", "--report", self.folder / "report")
            self.assertEqual((self.folder / "report").read_text().split("\t")[:2], ["9999-12-31 23:59:59.000000"] * 2)

    def test_duckdb(self):
        file, database = self.folder / "duckdb.parquet", duckdb.connect()
        texts = pyarrow.table({"row": with_texts(3)[0], "number": range(6), "text": with_texts(3)[1]})
        # DuckDB writes no empty struct, and pyarrow reads no array of a fixed size that is null.
        names = [name for name, in database.execute("SELECT column_name FROM (DESCRIBE FROM test_all_types())").fetchall() if "fixed" not in name and name != "empty_struct"]
        database.execute(f"""COPY (SELECT number, text, {", ".join(f'"{name}"' for name in names)} FROM (SELECT row_number() OVER () - 1 AS row, * FROM test_all_types())
            JOIN texts USING (row) ORDER BY number) TO '{file}'""")
        self.assertEqual(texts.num_rows, 6)
        self.assertFalse({"uint", "ubigint", "interval", "dec38_10"} & self.check_carried(file))

    def test_polars(self):
        frame = polars_frame()
        for how in {}, {"use_pyarrow": True}:
            frame.write_parquet(self.folder / "polars.parquet", **how)
            self.check_carried(self.folder / "polars.parquet")
            self.assertEqual(polars.read_parquet(self.out).schema, polars.read_parquet(self.folder / "polars.parquet").schema)

    def test_pandas(self):
        numbers, texts = with_texts(3)
        grade = pandas.Categorical(["high", "low", None] * 2, ["low", "middle", "high"], ordered=True)
        frame = pandas.DataFrame({"number": numbers, "text": texts, "grade": grade, "when": pandas.to_datetime(["1700-01-01", "2200-01-01T00:00:00.000000001", None] * 2, format="ISO8601"), "span": pandas.to_timedelta([1, 2, None] * 2),
                                  "u": pandas.array([1, 2**64 - 1, None] * 2, "UInt64"), "period": pandas.period_range("2020", periods=6, freq="M"), "interval": pandas.interval_range(0, 6),
                                  "flag": pandas.array([True, None, False] * 2, "boolean"), 7: [1.5] * 6}, index=pandas.Index([f"i{i}" for i in range(6)], name="key")).rename(columns=str)
        frame.to_parquet(self.folder / "pandas.parquet")
        self.check_carried(self.folder / "pandas.parquet")
        pandas.testing.assert_frame_equal(pandas.read_parquet(self.out), pandas.read_parquet(self.folder / "pandas.parquet")[:3])

    def test_stored(self):
        """Lists of two levels come out as they are; what pyarrow would not write is refused by name before a byte is."""
        numbers, texts = with_texts(3)
        table = pyarrow.table([numbers, texts, [[1, 2], [], None] * 2, [[("k", 1)], [], None] * 2], pyarrow.schema([
            ("number", "int64"), ("text", "string"), ("x", pyarrow.list_(pyarrow.field("element", pyarrow.int32(), nullable=False))), ("m", pyarrow.map_(pyarrow.string(), pyarrow.int32()))]))
        file = self.write("stored.parquet", table, store_schema=False)
        footer = _footer.read_footer(io.BytesIO(file.read_bytes()))
        body = file.read_bytes().removesuffix(_footer.end_of(footer))
        self.assertLess(len(body), file.stat().st_size)
        elements = footer[2][1][1]
        [at] = [i for i, element in enumerate(elements) if element[4][1] == b"x"]
        elements[at + 1:at + 3] = [{**elements[at + 2], 3: (5, 2), 4: (8, b"array")}]
        footer[4][1][1][0][1][1][1][2][3][1][3] = 9, (8, [b"x", b"array"])
        file.write_bytes(body + _footer.end_of(footer))
        self.assertEqual(pyarrow.parquet.ParquetFile(file).schema.column(2).path, "x.array")
        self.assertEqual(pyarrow.parquet.read_table(file)["x"].to_pylist(), [[1, 2], [], None] * 2)
        self.check_carried(file)
        # A key that may be null.
        self.out.unlink()
        [key] = [element for element in elements if element[4][1] == b"key"]
        key[3] = 5, 1
        file.write_bytes(body + _footer.end_of(footer))
        self.assertIn("Map keys must be annotated as required", run(file, "-o", self.folder / "none/", code=2))
        # The types of pyarrow, and of a file that has not got back its own.
        old = self.write("old.parquet", arrow_table().select(["text", "timestamp[ns]"]), use_deprecated_int96_timestamps=True)
        with unittest.mock.patch.object(_footer, "plain", lambda footer: footer):
            self.assertIn(f'could not read "{old}": the column timestamp[ns] is stored in a way that pyarrow does not write', run(old, "-o", self.folder / "none/", code=2))
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"in.parquet", "stored.parquet", "old.parquet"})
        with unittest.mock.patch.object(_footer, "restored", lambda made, footer: made):
            self.assertIn(f'the column text of "{old}" would be another one', run(old, "-o", self.out, code=2))
        self.assertFalse(self.out.exists())

    def test_broken_footers(self):
        """A footer with other bytes is read, or refused."""
        data, dice = self.write("some.parquet", arrow_table()).read_bytes(), random.Random(1)
        start, refused = len(data) - 8 - int.from_bytes(data[-8:-4], "little"), 0
        for _ in range(500):
            broken = bytearray(data)
            for _ in range(dice.randrange(1, 4)):
                broken[dice.randrange(start, len(data))] = dice.randrange(256)
            try:
                _footer.end_of(_footer.read_footer(io.BytesIO(broken)))
            except ValueError:
                refused += 1
        self.assertTrue(50 < refused < 500, refused)
        self.assertRaisesRegex(ValueError, "missing or broken", _footer.read_footer, io.BytesIO(b"PAR1"))

    def test_least(self):
        """Tables of these packages, of the least versions too."""
        table = pyarrow.table({"id": pyarrow.array([2**63, 1, 2, 3], "uint64"), "text": ["a b c d", "x y z w", "a b c d", None]})
        database = duckdb.connect()
        relation = database.from_arrow(table)
        for some, ids in ((table, lambda made, name: made[name].to_pylist()), (polars.from_arrow(table), lambda made, name: made[name].to_list()), (relation, lambda made, name: [id for id, in made.select(name).fetchall()]),
                          (table.to_pandas(), lambda made, name: [None if item is pandas.NA else item for item in made[name]])):
            self.assertEqual(ids(neardup.dedupe(some, text="text"), "id"), [2**63, 1, 3])
            report = neardup.dedupe(some, text="text", id="id", report=True, against=table.slice(0, 1))
            self.assertEqual((ids(report, "keeper"), ids(report, "against")), ([None, 1, None, None], [2**63, None, 2**63, None]))

    def test_ids(self):
        """Ids of any type in a report, also where Python has no pandas for nanoseconds."""
        table = arrow_table()
        texts = {"timestamp[ns]": "1969-12-31 23:59:59.999999999", "uint64": "0", "bool": "true", "decimal128(38, 2)": "-1.50", "date32[day]": "0001-01-01", "string": "", **({"extension<arrow.uuid>": str(uuid.UUID(int=0))} if LATER else {}),
                 "binary": "b''", "timestamp[s, tz=UTC]": "1969-12-31 23:59:59.000Z", "fixed_size_binary[3]": "b'abc'"}
        file = self.write("ids.parquet", table)
        program = f"""if True:
            import sys
            class Without:
                def find_spec(self, name, *rest):
                    if name == "pandas":
                        raise ImportError
            sys.meta_path.insert(0, Without())
            from neardup.__main__ import main
            for name in {list(texts)!r}:
                main(["dedupe", {str(file)!r}, "-o", {str(self.out)!r}, "--id", name, "--report", {str(self.folder)!r} + "/" + name])"""
        subprocess.run([sys.executable, "-c", program], cwd=HERE, check=True)
        for name, text in texts.items():
            self.assertEqual((self.folder / name).read_text().split("\t")[:2], [text, text], name)

    def test_folder(self):
        files = [self.write(f"{i}.parquet", TABLE.slice(100 * i, 100)) for i in range(4)]
        run(*files, "-o", f"{self.folder}/made/")
        self.assertEqual([len(pyarrow.parquet.read_table(self.folder / f"made/{i}.parquet")) for i in range(4)], [100, 100, 52, 0])
        self.assertIn("name a folder", run(*files, "-o", self.out, code=2))
        self.assertIn("two files are named", run(files[0], self.write("again/0.parquet", TABLE), "-o", f"{self.folder}/made/", code=2))

    def test_skip_errors(self):
        """Files that cannot be read are left out and told, and have no output; so is one of which a column is damaged that nothing else reads."""
        files = [self.write(f"{name}.parquet", TABLE.slice(i, 100), **how) for name, i, how in (("a", 0, {}), ("torn", 100, {}), ("page", 0, {"compression": "none", "use_dictionary": False}), ("b", 50, {}))]
        other = self.write("other.parquet", pyarrow.table({"id": ["x"], "text": [1]}))
        lines, none = self.folder / "lines.parquet", self.folder / "none.parquet"
        lines.write_text('{"text": "a"}\n')
        files[1].write_bytes(files[1].read_bytes()[:-100])
        page = files[2].read_bytes()
        at = pyarrow.parquet.read_metadata(files[2]).row_group(1).column(2).data_page_offset
        files[2].write_bytes(page[:at] + bytes(30) + page[at + 30:])
        files += [other, lines, none]
        self.assertRegex(run(*files, "-o", f"{self.folder}/made", code=2), "could not read")
        said = run(*files, "-o", f"{self.folder}/made", "--skip-errors", "--id", "id").replace(f"{self.folder}/", "")
        self.assertRegex(said, r'^neardup: files that are left out, since they cannot be read: 5\n  could not read "torn.parquet": .*footer.*\n  could not read "page.parquet": .*\n  could not read "other.parquet": a column of texts has Arrow\'s type utf8 or binary, not .*\n  …\n$')
        self.assertEqual(sorted(path.name for path in (self.folder / "made").iterdir()), ["a.parquet", "b.parquet"])
        for options in [], ["--unit", "passage"], ["--common", ".5", "--source", "n"]:
            more = [*files, self.write("few.parquet", TABLE.select(["id", "text"]).slice(150, 50))] if "n" in options else files
            made, report = f"{self.folder}/{len(options)}/", self.folder / "report"
            self.assertIn("cannot be read: 6" if "n" in options else "cannot be read: 5", run(*more, "-o", made, "--skip-errors", "--report", report, *options))
            self.assertRegex(str(verify("--skip-errors", *options, *more, made, report)), "^.0, .200 records: ")
        self.assertEqual([pyarrow.parquet.read_table(self.folder / f"made/{name}.parquet")["id"].to_pylist() for name in "ab"], [IDS[:100], IDS[100:150]])
        run(files[0], none, "-o", f"{self.folder}/one", "--skip-errors")
        self.assertEqual(pyarrow.parquet.read_table(self.folder / "one/a.parquet")["id"].to_pylist(), IDS[:100])
        self.assertIn("nothing can be read", run(files[1], none, "-o", self.out, "--skip-errors", code=2))
        self.assertIn("could not read", run(files[0], "-a", none, "-o", self.out, "--skip-errors", code=2))

    def test_names(self):
        """A file counts once, whatever its names: one behind its own copy would go as a whole."""
        link, hard, other = self.folder / "link.parquet", self.folder / "hard.parquet", self.write("other.parquet", TABLE.slice(240))
        (self.folder / "view").symlink_to(self.folder)
        link.symlink_to(self.file)
        hard.hardlink_to(self.file)
        said = run(link, self.file, hard, self.folder / "view/in.parquet", other, self.file, "-o", self.folder / "made", "--report", self.folder / "r", "--id", "id")
        self.assertEqual(said, f'neardup: names that are left out, since another is of the same file: 4\n  "{self.file}" is "{link}"\n  "{hard}" is "{link}"\n'
                               f'  "{self.folder}/view/in.parquet" is "{link}"\n  …\n')
        self.assertEqual(sorted(path.name for path in (self.folder / "made").iterdir()), ["link.parquet", "other.parquet"])
        self.assertEqual(pyarrow.parquet.read_table(self.folder / "made/link.parquet")["id"].to_pylist(), STAY)
        self.assertEqual(pyarrow.parquet.read_table(self.folder / "made/other.parquet")["id"].to_pylist(), IDS[250:252])
        said = run(hard, other, "--against", link, "-o", self.out)
        self.assertEqual((said.splitlines()[1], pyarrow.parquet.read_table(self.out)["id"].to_pylist()), (f'  "{hard}" is "{link}"', IDS[250:252]))
        self.assertIn("all files are those of --against", run(hard, "--against", link, "-o", self.folder / "none", code=2))

    def test_options(self):
        """The rows that stay are those of dedupe(), and the report is that of its columns."""
        against = self.write("against.parquet", TABLE.slice(200, 20))
        (self.folder / "lexicon").write_text(str(neardup.Lexicon.learn(TEXTS)))
        lexicon = neardup.Lexicon.learn(TEXTS)
        for options, how in (
                (["--minhash", "64,8", "-s"] + ["char 5"], {"k": 64, "b": 8, "scheme": "char 5"}), (["--shingles", "-t", ".95"], {"shingles": True, "threshold": 0.95}),
                (["--containment", "--multiset", "--nearest", "-j2", "-m", "1G"], {"containment": True, "multiset": True, "nearest": True}),
                (["--decide", "signatures"], {"decide": "signatures"}), (["--contained", ".5", "-t", ".3"], {"contained": 0.5, "threshold": 0.3}),
                (["--common", ".1", "--source", "id"], {"common": 0.1, "source": "id"}),
                (["--lexicon", self.folder / "lexicon"], {"lexicon": lexicon}), (["-a", against], {"against": pyarrow.parquet.read_table(against)})):
            run(self.file, "-o", self.out, "--id", "id", "--report", self.folder / "report", *options)
            self.assertEqual(pyarrow.parquet.read_table(self.out)["id"].to_pylist(), neardup.dedupe(TABLE, text="text", **how)["id"].to_pylist(), options)
            rows = neardup.dedupe(TABLE, text="text", id="id", report=True, **how).to_pylist()
            expected = [(row["id"], row.get("against") or row["keeper"]) for row in rows if row.get("against") or row["keeper"] not in (None, row["id"])]
            report = [line.replace("\\t", " ").split("\t") for line in (self.folder / "report").read_text().splitlines()]
            self.assertEqual(sorted((line[0], line[1]) for line in report), sorted((a.replace("\t", " "), b.replace("\t", " ")) for a, b in expected))
            self.assertLessEqual({line[4] for line in report}, {how.get("decide", "texts")})
            self.assertEqual([float(line[5]) for line in report if line[5:] and line[3] == "duplicate"], [row["estimate"] for row in rows if row["keeper"] not in (None, row["id"]) and "estimate" in row])
            self.assertEqual([float(line[2]) for line in report if line[3] == "duplicate"], [row["similarity"] for row in rows if row["keeper"] not in (None, row["id"])])
            self.assertEqual({line[3] for line in report}, {"duplicate", "against"} if "against" in how else {"duplicate"} if report else set())

    def test_verify(self):
        """What neardup.verify finds right, and wrong."""
        moments = TABLE.append_column("t", pyarrow.array(range(len(IDS)), pyarrow.timestamp("ns"))).append_column("f", pyarrow.array([float("nan"), 0.0] * (len(IDS) // 2)))
        file, report = self.write("t.parquet", moments), self.folder / "report"
        against = self.write("against.parquet", moments.slice(200, 20))
        for options in [], ["-s", "char 5"], ["-a", against], ["--multiset", "-t", ".5"], ["--contained", ".9", "-t", ".5"], ["--id", "id"], ["--containment"]:
            run(file, "-o", self.out, "--report", report, *options)
            code, said = verify(file, self.out, report, *options)
            self.assertEqual((code, " similarities are those of the texts" in said), (0, True), said)
        run(file, "-o", self.out, "--report", report, "--id", "id")
        kept = pyarrow.parquet.read_table(self.out)
        for wrong, why in ((kept.slice(1), "record 1 is not in"), (kept.set_column(5, "t", pyarrow.array(range(1, 1 + len(kept)), pyarrow.timestamp("ns"))), "record 1 is not in"),
                           (kept.set_column(1, "n", kept["n"].cast(pyarrow.decimal128(10, 2))), "other columns, types"), (kept.replace_schema_metadata(None), "other columns, types or metadata")):
            code, said = verify(file, self.write("wrong.parquet", wrong), report, "--id", "id")
            self.assertEqual((code, why in said), (1, True), said)
        self.assertEqual(verify(file, report, report)[0], 2)
        files = [self.write(f"{i}.parquet", moments.slice(100 * i, 100)) for i in range(4)]
        run(*files, "-o", self.folder / "made/", "--report", report)
        self.assertRegex(verify(*files, self.folder / "made", report)[1], f'^{len(IDS)} records: 252 in ')
        (self.folder / "made/2.parquet").replace(self.folder / "made/3.parquet")
        self.assertEqual(verify(*files, self.folder / "made", report, "--skip-errors")[0], 1)
        if LATER:
            # Lines in several frames of zstd.
            import zstandard
            lines = [f'{{"text": "{text}"}}\n'.encode() for text in WORDS[:9]]
            packed, kept = self.folder / "in.jsonl.zst", self.folder / "kept.jsonl.zst"
            packed.write_bytes(b"".join(zstandard.compress(b"".join(some)) for some in (lines[:5], lines[5:], lines[:1])))
            report.write_text("10\t1\t1\tduplicate\ttexts\t1\n")
            for stay, code in (lines, 0), (lines[:8], 1):
                kept.write_bytes(zstandard.compress(b"".join(stay)))
                self.assertEqual(verify(packed, kept, report)[0], code)

    def test_passages(self):
        """Passages go from the texts, all else stays as it is, and neardup.verify finds that right."""
        report = self.write("none.parquet", TABLE.slice(0, 0)).with_name("report.tsv")
        file = self.write("in.parquet", TABLE)
        for options in (), ("--min-left", "3"), ("--against", str(self.write("other.parquet", TABLE.slice(0, 20)))):
            main(["dedupe", "--unit", "passage", "--id", "id", "--report", str(report), *options, str(file), "-o", str(self.out)])
            made = pyarrow.parquet.read_table(self.out)
            self.assertEqual((made.schema, made.schema.metadata), (TABLE.schema, TABLE.schema.metadata))
            cut = neardup.dedupe([text or "" for text in TEXTS], unit="passage", min_left=3 if "3" in options else 1, against=TEXTS[:20] if len(options) and "3" not in options else None)
            self.assertEqual([text or "" for text in made["text"].to_pylist()], cut)
            code, said = verify("--unit", "passage", "--id", "id", *options, file, self.out, report)
            self.assertEqual(code, 0, said)
        packed = self.write("packed.parquet", pyarrow.table({"text": [text and text.encode() for text in TEXTS]}))
        for options in [], ["--unit", "passage"]:
            run(packed, "-o", self.out, "--report", report, *options)
            self.assertEqual(verify(packed, self.out, report, *options)[0], 0)
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            main(["dedupe", "--unit", "passage", "--field", "a.b", str(self.write("nested.parquet", pyarrow.table({"a": [{"b": "c"}]}))), "-o", str(self.out)])

    def test_nested(self):
        rows = [{"id": i, "data": {"text": text, "n": 1}, "a.b": text, "talk": [{"say": text and text[:200]}, None, {"say": text and text[200:]}]} for i, text in enumerate(TEXTS)]
        file = self.write("nested.parquet", pyarrow.Table.from_pylist([*rows, {"id": -1}]))
        for field in "data.text", "a.b", "talk[].say":
            run(file, "-o", self.out, "-f", field)
            self.assertEqual(pyarrow.parquet.read_table(self.out)["id"].to_pylist(), [*range(252), -1], field)
        numbers = self.write("numbers.parquet", pyarrow.table({"list": [[1], [2]], "bytes": [[b"a"], [b"b"]]}))
        for field, kind in ("list[]", "int64"), ("bytes[]", "binary"):
            self.assertIn(f"'{field}' has no texts: its type is {kind}, not string", run(numbers, "-o", self.out, "-f", field, code=2))
        self.assertIn("there is no 'say' in", run(file, "-o", self.out, "-f", "data.say", code=2))

    def test_signatures(self):
        """Signatures in a column are values, on either side."""
        signed = TABLE.append_column("signature", pyarrow.array(neardup.minhash(TABLE["text"])))
        old, new = (pyarrow.parquet.read_table(self.write(name, table))["signature"] for name, table in (("old", signed.slice(0, 252)), ("new", signed.slice(252))))
        self.assertEqual(neardup.dedupe(pyarrow.parquet.read_table(self.write("all", signed))["signature"]), list(range(252)))
        self.assertEqual(neardup.dedupe(new, against=old), [])
        self.assertEqual([b for _, b, _ in neardup.pairs(new, 0.8, against=old)][:40], list(range(40)))

    def test_refused(self):
        lines = self.folder / "in.jsonl"
        lines.write_text('{"text": "a"}\n')
        for why, code, *arguments in (
                ("no Parquet file; the command neardup reads JSON", 2, lines, "-o", self.out), ("No such file", 2, "none.parquet", "-o", self.out),
                ("no column 'body': the columns are 'id', 'n'", 2, self.file, "-f", "body", "-o", self.out), ("utf8 or binary, not", 2, self.file, "-f", "n", "-o", self.out),
                ("required: -o/--output: try", 1, self.file), ("scheme", 1, self.file, "-o", self.out, "-s", "nonsense"), ("thresholds|threshold", 1, self.file, "-o", self.out, "-t", "2"),
                ("No such file", 2, self.file, "-o", self.folder / "none/out.parquet"), ("no size", 1, self.file, "-o", self.out, "-m", "4X"), ("no size", 1, self.file, "-o", self.out, "-m", "0.1"),
                ("no size", 1, self.file, "-o", self.out, "-m", "4g"), ("no K,B", 1, self.file, "-o", self.out, "--minhash", "512"),
                *((f'jobs: "{jobs}" is no number of threads, whole, from 1 to 1024', 1, self.file, "-o", self.out, "-j", jobs) for jobs in ("0", "1025", "-1", "2.5", "many")),
                ("--shingles compares texts", 1, self.file, "-o", self.out, "--shingles", "--decide", "signatures"), ("no column 'key'", 2, self.file, "-o", self.out, "--id", "key"),
                ("--min-run is for --unit passage", 1, self.file, "-o", self.out, "--min-run", "9"), ("a passage has from 1 to", 1, self.file, "-o", self.out, "--unit", "passage", "--min-run", "0"),
                *((f"{name} is for whole records, not for --unit passage", 1, self.file, "-o", self.out, "--unit", "passage", name, value) for name, value in (("--common", ".5"), ("--threshold", ".9")))):
            self.assertRegex(run(*arguments, code=code), why)
        self.assertFalse(self.out.exists())
        twice = self.write("twice.parquet", pyarrow.table([["a"], ["b"]], ["text", "text"]))
        self.assertIn("there are two columns 'text'", run(twice, "-o", self.out, code=2))
        bad = self.write("bad.parquet", pyarrow.table({"text": [b"\xff"]}))
        self.assertIn("neardup: ", run(self.write("good.parquet", pyarrow.table({"text": ["a"]})), bad, "-o", self.folder, code=2))
        # Nothing that is read is overwritten, but an input by its own output; nor is an output.
        other = self.write("other.parquet", TABLE)
        for arguments in (("-o", self.out, "--report", self.file), ("-o", other, "-a", other), ("-o", self.out, "-a", other, "--report", other), ("-o", self.out, "--report", self.out)):
            self.assertRegex(run(self.file, *arguments, code=2), "would be overwritten|is the file of the output")
        self.assertTrue(all(pyarrow.parquet.read_table(file).equals(TABLE) for file in (self.file, other)))
        self.assertFalse(self.out.exists())
        self.write("broken.parquet", TABLE, compression="none")
        data = bytearray((self.folder / "broken.parquet").read_bytes())
        data[100:20000] = bytes(19900)
        (self.folder / "broken.parquet").write_bytes(data)
        self.assertIn("broken.parquet", run(self.folder / "broken.parquet", "-o", self.out, code=2))
        program = "import sys; sys.modules['pyarrow'] = None; sys.argv[1:] = ['dedupe', 'in', '-o', 'out']; import runpy; runpy.run_module('neardup', run_name='__main__')"
        for some in program, program.replace("sys.modules['pyarrow'] = None", "import pyarrow; del pyarrow.string_view"):
            made = subprocess.run([sys.executable, "-c", some], cwd=HERE, capture_output=True, text=True, check=False)
            self.assertEqual((made.returncode, made.stderr), (2, "neardup: Parquet files are read by pyarrow 16 or later, which is not here: pip install 'neardup[parquet]'\n"))

    def test_interrupt(self):
        """Ctrl-C leaves no file behind."""
        file = self.write("long.parquet", pyarrow.concat_tables([TABLE] * 400), row_group_size=20000)
        program = f"""if True:
            import signal, sys, threading, os
            signal.signal(signal.SIGINT, signal.default_int_handler)
            import neardup, neardup._parquet as parquet
            from neardup.__main__ import main
            write = parquet._Carried.write
            def wait(*arguments):
                write(*arguments)
                print("begun", flush=True)
                signal.pause()
            parquet._Carried.write = wait
            main(["dedupe", {str(file)!r}, "-o", {str(self.out)!r}])"""
        with subprocess.Popen([sys.executable, "-c", program], cwd=HERE, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "begun\n")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=60), 130)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"in.parquet", "long.parquet"})


if __name__ == "__main__":
    result = unittest.TextTestRunner(resultclass=Tap, stream=sys.stderr, verbosity=0).run(unittest.defaultTestLoader.loadTestsFromTestCase(Parquet))
    sys.exit(not result.wasSuccessful())
