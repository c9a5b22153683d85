"""Tests of python -m neardup, on files of pyarrow.  Prints the lines of TAP."""

import contextlib
import io
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import pyarrow
import pyarrow.parquet

import neardup
from neardup.__main__ import main
from test_python import HERE, Tap

WORDS = [" ".join(f"w{i * 1000 + word}" for word in range(60)) for i in range(250)]
TEXTS = [*WORDS, None, "", *(f"{text} and more" for text in WORDS[:40]), *WORDS[:10]]
IDS = [f"r\t{i}" for i in range(len(TEXTS))]
STAY = IDS[:252]
SCHEMA = pyarrow.schema([pyarrow.field("id", pyarrow.string(), metadata={"a": "b"}), ("n", pyarrow.decimal128(9, 2)), ("when", pyarrow.timestamp("ms", "UTC")),
                         ("text", pyarrow.large_string()), ("tags", pyarrow.list_(pyarrow.dictionary(pyarrow.int32(), pyarrow.string())))], {"owner": "ours"})
TABLE = pyarrow.table([IDS, range(len(IDS)), range(len(IDS)), TEXTS, [["x", str(i % 3)] for i in range(len(IDS))]], SCHEMA)


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
        self.assertTrue(pyarrow.parquet.read_table(self.out).equals(TABLE.slice(0, 252)))
        self.assertEqual([made.metadata.row_group(i).num_rows for i in range(made.metadata.num_row_groups)], [70, 70, 70, 42])
        self.assertEqual(made.metadata.row_group(0).column(3).compression, "ZSTD")
        # The file itself, and files that pyarrow cannot filter or has no row of.
        run(self.file, "-o", self.file, "--report", self.folder / "report")
        self.assertEqual(pyarrow.parquet.read_table(self.file)["id"].to_pylist(), STAY)
        for some in TABLE.slice(0, 0), TABLE.set_column(3, "text", TABLE["text"].cast(pyarrow.string_view())):
            run(self.write("some.parquet", some, compression="none"), "-o", self.out)
            self.assertEqual(pyarrow.parquet.read_table(self.out)["id"].to_pylist(), STAY if len(some) else [])
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"in.parquet", "some.parquet", "out.parquet", "report"})

    def test_folder(self):
        files = [self.write(f"{i}.parquet", TABLE.slice(100 * i, 100)) for i in range(4)]
        run(*files, "-o", f"{self.folder}/made/")
        self.assertEqual([len(pyarrow.parquet.read_table(self.folder / f"made/{i}.parquet")) for i in range(4)], [100, 100, 52, 0])
        self.assertIn("name a folder", run(*files, "-o", self.out, code=2))
        self.assertIn("two files are named", run(files[0], self.write("again/0.parquet", TABLE), "-o", f"{self.folder}/made/", code=2))

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
                ("--minhash 64,8 -s".split() + ["char 5"], {"k": 64, "b": 8, "scheme": "char 5"}), (["--shingles", "-t", ".95"], {"shingles": True, "threshold": 0.95}),
                (["--containment", "--multiset", "--nearest", "-j2", "-m", "1G"], {"containment": True, "multiset": True, "nearest": True}),
                (["--decide", "signatures"], {"decide": "signatures"}), (["--contained", ".5", "-t", ".3"], {"contained": 0.5, "threshold": 0.3}),
                (["--lexicon", self.folder / "lexicon"], {"lexicon": lexicon}), (["-a", against], {"against": pyarrow.parquet.read_table(against)})):
            run(self.file, "-o", self.out, "--id", "id", "--report", self.folder / "report", *options)
            self.assertEqual(pyarrow.parquet.read_table(self.out)["id"].to_pylist(), neardup.dedupe(TABLE, text="text", **how)["id"].to_pylist(), options)
            rows = neardup.dedupe(TABLE, text="text", id="id", report=True, **how).to_pylist()
            expected = [(row["id"], row.get("against") or row["keeper"]) for row in rows if row.get("against") or row["keeper"] not in (None, row["id"])]
            report = [line.replace("\\t", " ").split("\t") for line in (self.folder / "report").read_text().splitlines()]
            self.assertEqual(sorted((line[0], line[1]) for line in report), sorted((a.replace("\t", " "), b.replace("\t", " ")) for a, b in expected))
            self.assertLessEqual({line[4] for line in report}, {how.get("decide", "texts")})
            self.assertEqual([float(line[2]) for line in report if line[3] == "duplicate"], [row["similarity"] for row in rows if row["keeper"] not in (None, row["id"])])
            self.assertEqual({line[3] for line in report}, {"duplicate", "against"} if "against" in how else {"duplicate"} if report else set())

    def test_verify(self):
        """What neardup.verify finds right, and wrong."""
        def verify(*arguments):
            done = subprocess.run([sys.executable, "-m", "neardup.verify", *map(str, arguments)], cwd=HERE, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

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

    def test_nested(self):
        rows = [{"id": i, "data": {"text": text, "n": 1}, "a.b": text, "talk": [{"say": text and text[:200]}, None, {"say": text and text[200:]}]} for i, text in enumerate(TEXTS)]
        file = self.write("nested.parquet", pyarrow.Table.from_pylist([*rows, {"id": -1}]))
        for field in "data.text", "a.b", "talk[].say":
            run(file, "-o", self.out, "-f", field)
            self.assertEqual(pyarrow.parquet.read_table(self.out)["id"].to_pylist(), [*range(252), -1], field)
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
                ("--shingles compares texts", 1, self.file, "-o", self.out, "--shingles", "--decide", "signatures"), ("no column 'key'", 2, self.file, "-o", self.out, "--id", "key")):
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
        made = subprocess.run([sys.executable, "-c", program], cwd=HERE, capture_output=True, text=True, check=False)
        self.assertEqual((made.returncode, "pip install 'neardup[parquet]'" in made.stderr), (2, True), made.stderr)

    def test_interrupt(self):
        """Ctrl-C leaves no file behind."""
        file = self.write("long.parquet", pyarrow.concat_tables([TABLE] * 400), row_group_size=20000)
        program = f"""if True:
            import signal, sys, threading, os
            signal.signal(signal.SIGINT, signal.default_int_handler)
            import neardup, neardup._parquet as parquet
            from neardup.__main__ import main
            write = parquet._write
            def wait(*arguments):
                write(*arguments)
                print("begun", flush=True)
                signal.pause()
            parquet._write = wait
            main(["dedupe", {str(file)!r}, "-o", {str(self.out)!r}])"""
        with subprocess.Popen([sys.executable, "-c", program], cwd=HERE, stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "begun\n")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=60), 130)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"in.parquet", "long.parquet"})


if __name__ == "__main__":
    result = unittest.TextTestRunner(resultclass=Tap, stream=sys.stderr, verbosity=0).run(unittest.defaultTestLoader.loadTestsFromTestCase(Parquet))
    sys.exit(not result.wasSuccessful())
