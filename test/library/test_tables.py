"""Tests of the Python package with tables of others: packages.txt lists the packages.  Prints the lines of TAP."""

import collections
import concurrent.futures
import importlib.metadata
import itertools
import multiprocessing
import os
import pathlib
import pickle
import re
import subprocess
import sys
import unittest
import warnings

import daft
import datasets
import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.compute
import tqdm

import neardup
import neardup.duckdb
from neardup import _engines
from test_parquet import arrow_table, polars_frame
from test_python import HERE, Tap

WORDS = [" ".join(f"w{i * 1000 + word}" for word in range(60)) for i in range(10)]
TEXTS = [*WORDS, None, "", "short", *(f"{text} and more" for text in WORDS[:4])]
STAY = range(13)
IDS = [f"r{i}" for i in range(len(TEXTS))]
DOCUMENTS = pyarrow.table({"id": IDS, "body": TEXTS})
COLUMN = pyarrow.array(TEXTS)
PAIRS = [(i, 13 + i) for i in range(4)]


def columns():
    """Returns columns of the texts by their names."""
    halves = [COLUMN.slice(0, 5), COLUMN.slice(5, 0), COLUMN.slice(5)]
    found = {str(kind): COLUMN.cast(kind) for kind in (pyarrow.utf8(), pyarrow.large_utf8(), pyarrow.string_view(), pyarrow.binary(),
                                                       pyarrow.large_binary(), pyarrow.binary_view())}
    found.update({
        "slice": pyarrow.concat_arrays([COLUMN, COLUMN]).slice(3, len(TEXTS)).take(pyarrow.array([*range(len(TEXTS) - 3, len(TEXTS)), *range(len(TEXTS) - 3)])),
        "dictionary": COLUMN.dictionary_encode(), "chunks": pyarrow.chunked_array(halves),
        "chunks of dictionaries": pyarrow.chunked_array(halves).dictionary_encode(), "table of one": DOCUMENTS.select(["body"]),
        "Polars": polars.Series(TEXTS), "Polars, categories": polars.Series(TEXTS, dtype=polars.Categorical), "pandas": pandas.Series(TEXTS),
        "pandas, objects": pandas.Series(TEXTS, dtype=object), "pandas, string": pandas.Series(TEXTS, dtype="string"),
        "pandas, categories": pandas.Series(TEXTS, dtype="category"), "numpy": numpy.array(TEXTS, dtype=object),
        "daft": daft.Series.from_pylist(TEXTS), "datasets": datasets.Dataset(DOCUMENTS)["body"], "DuckDB": duckdb.sql("SELECT body FROM DOCUMENTS"),
    } | {"an iterator of daft": iter(daft.Series.from_pylist(TEXTS))})
    return found


def tables():
    """Returns tables of the texts by their names."""
    database = duckdb.connect()
    database.execute("CREATE TABLE t AS FROM DOCUMENTS")
    return {"pyarrow": DOCUMENTS, "a batch": DOCUMENTS.to_batches()[0], "chunks": pyarrow.concat_tables([DOCUMENTS.slice(0, 4), DOCUMENTS.slice(4)]),
            "a reader": DOCUMENTS.to_reader(), "Polars": polars.DataFrame(DOCUMENTS), "pandas": DOCUMENTS.to_pandas(), "DuckDB": database.table("t"),
            "daft": daft.from_arrow(DOCUMENTS), "datasets": datasets.Dataset(DOCUMENTS), "datasets, chosen": datasets.Dataset(DOCUMENTS).select(range(len(TEXTS))),
            "dicts": DOCUMENTS.to_pylist()}


def rows_of(table):
    """Returns the rows of a table as dicts."""
    if isinstance(table, list):
        return table
    if isinstance(table, datasets.Dataset):
        return table.to_list()
    if isinstance(table, pandas.DataFrame):
        table = pyarrow.Table.from_pandas(table, preserve_index=False)
    return pyarrow.table(table.to_arrow() if isinstance(table, daft.DataFrame) else table).to_pylist()


def _join_part(part):
    return _engines.join(*part)


class Tables(unittest.TestCase):
    def test_columns(self):
        for make in neardup.minhash, neardup.simhash, neardup.shingles:
            expected = [None if text is None else make(text) for text in TEXTS]
            for name, column in columns().items():
                for jobs in 1, 3:
                    if jobs == 1 or not hasattr(column, "__next__"):
                        self.assertEqual(list(make(column, jobs=jobs)), expected, (make, name))
        for some in COLUMN.slice(4, 9), polars.Series(TEXTS)[4:13], pandas.Series(TEXTS)[4:13], DOCUMENTS.select(["body"]).slice(4, 9):
            self.assertEqual(list(neardup.minhash(some)), list(neardup.minhash(TEXTS[4:13])))
        self.assertEqual(list(neardup.minhash(pyarrow.nulls(2))), [None, None])
        self.assertEqual(list(neardup.minhash(pyarrow.array([], pyarrow.utf8()))), [])
        self.assertEqual(str(neardup.Lexicon.learn(COLUMN)), str(neardup.Lexicon.learn(TEXTS)))

    def test_results(self):
        signatures, sets = neardup.minhash(COLUMN), neardup.shingles(COLUMN)
        for made, kind in (signatures, pyarrow.binary(76)), (sets, pyarrow.large_binary()):
            column = pyarrow.array(made)
            column.validate(full=True)
            self.assertEqual((column.type, column.to_pylist()), (kind, list(made)))
            self.assertEqual(polars.Series(made).to_list(), list(made))
            for again in (column, column.slice(2), column.cast(pyarrow.binary_view()), pyarrow.chunked_array([column, column]), polars.Series(made),
                          column.drop_null(), column.drop_null().slice(1)):
                self.assertEqual(list(neardup.Values.of(again)), again.to_pylist() if hasattr(again, "to_pylist") else again.to_list())
            pairs, clusters = neardup.pairs(column, 0.8), neardup.clusters(column, 0.8)
            self.assertEqual([tuple(pair)[:2] for pair in pairs], PAIRS)
            self.assertEqual(pyarrow.table(pairs).to_pylist(), [pair._asdict() for pair in pairs])
            self.assertEqual(polars.DataFrame(pairs).rows(), list(map(tuple, pairs)))
            self.assertEqual(pyarrow.table(clusters)["keeper"].to_pylist(), [*range(10), None, None, 12, *range(4)])
            self.assertEqual(numpy.asarray(pairs)["b"].tolist(), [b for _, b in PAIRS])
            self.assertEqual(pickle.loads(pickle.dumps(pairs)), pairs)
        # A column outlives what it was made of.
        column = pyarrow.array(neardup.minhash(WORDS * 100)).slice(500)
        self.assertEqual(column[3].as_py(), signatures[3])

    def test_tables(self):
        expected = [{"id": IDS[i], "body": TEXTS[i]} for i in STAY]
        for name, table in tables().items():
            made = neardup.dedupe(table, 0.8, text="body", memory=10**8)
            self.assertIs(type(made), type(table), name)
            if name != "a reader":
                none = neardup.dedupe(table[:0] if name in ("dicts", "pandas", "Polars") else table.filter("false") if name == "DuckDB" else
                                      table.limit(0) if name == "daft" else table.select([]) if "datasets" in name else table.slice(0, 0), text="body", report=True)
                self.assertEqual(rows_of(none), [], name)
            self.assertEqual([{**row, "body": None if row["body"] != row["body"] else row["body"]} for row in rows_of(made)], expected, name)

    def test_common(self):
        """What many texts have is counted in tables of all packages, with their sources: 14 of 17 texts are distinct, too few to share."""
        for name, table in tables().items():
            self.assertEqual([row["id"] for row in rows_of(neardup.dedupe(table, 0.8, text="body", common=0.5, source="id"))], [IDS[i] for i in STAY], name)
        many = [f"{'the words of a form that all texts have '} text {i} of {i % 50}x{i % 50} words{i % 50}" for i in range(100)]
        expected = neardup.dedupe(many, 0.6, common=0.5)
        self.assertEqual(len(expected), 100)
        for table in pyarrow.table({"body": many}), polars.DataFrame({"body": many}), pandas.DataFrame({"body": many}), datasets.Dataset.from_dict({"body": many}):
            self.assertEqual([row["body"] for row in rows_of(neardup.dedupe(table, 0.6, text="body", common=0.5))], expected)
        self.assertLess(len(neardup.dedupe(many, 0.6)), 100)

    def test_passages(self):
        """Each table loses what the list of its texts does."""
        texts = [text or "" for text in TEXTS]
        expected = neardup.dedupe(texts, unit="passage", jobs=2)
        self.assertEqual(expected, [*WORDS, "", "", "short", *["and more"] * 4][:17])
        self.assertEqual(neardup.dedupe(texts, unit="passage", min_left=3), [*WORDS, "", "", "short"])
        marked = neardup.dedupe(texts, unit="passage", mark=True)
        self.assertEqual([(passage.record, passage.start, passage.first) for passage in marked], [(13 + i, 0, i) for i in range(4)])
        self.assertEqual([texts[passage.record][passage.start:passage.end] for passage in marked], WORDS[:4])
        self.assertEqual(neardup.dedupe([*texts[:3], "other"], unit="passage", against=[texts[1]]), [texts[0], texts[2], "other"])
        for name, table in tables().items():
            made = neardup.dedupe(table, text="body", unit="passage")
            self.assertIs(type(made), type(table), name)
            rows = rows_of(made)
            self.assertEqual([row["id"] for row in rows], IDS, name)
            self.assertEqual([row["body"] if isinstance(row["body"], str) else "" for row in rows], expected, name)
            self.assertEqual(neardup.dedupe(tables()[name], text="body", unit="passage", mark=True), marked, name)
        for kind, packages in (pandas.Series, pandas), (polars.Series, polars):
            for name, made in [(name, packages.DataFrame({"body": column})) for name, column in columns().items() if isinstance(column, kind)]:
                # Of the last two, nothing goes.
                for some in made, made[:9], made[:0]:
                    kept = rows_of(neardup.dedupe(some, text="body", unit="passage"))
                    self.assertEqual([row["body"] if isinstance(row["body"], str) else "" for row in kept], expected[:len(some)], name)
        # Bytes stay bytes.
        packed = [text.encode() for text in texts]
        packed_table = pyarrow.table({"body": packed})
        for made in (neardup.dedupe(packed, unit="passage"), *([row["body"] for row in rows_of(neardup.dedupe(some, text="body", unit="passage"))] for some in (
                [{"body": text} for text in packed], packed_table, pandas.DataFrame({"body": packed}), polars.DataFrame({"body": packed}), duckdb.sql("SELECT * FROM packed_table")))):
            self.assertEqual(made, [text.encode() for text in expected])
        for wrong in {"unit": "line"}, {"unit": "passage", "min_run": 0}, {"unit": "passage", "min_run": 2, "min_left": 3}:
            with self.assertRaises(ValueError):
                neardup.dedupe(texts, **wrong)

    def test_report(self):
        for name, table in tables().items():
            made = neardup.dedupe(table, 0.8, text="body", id="id", report=True, against=[WORDS[9]])
            self.assertIs(type(made), type(table), name)
            rows = rows_of(made)
            self.assertEqual([row["id"] for row in rows], IDS, name)
            self.assertEqual([row["keeper"] for row in rows][:11] + [row["keeper"] for row in rows][13:], [*IDS[:9], None, None, *IDS[:4]], name)
            self.assertEqual([row["size"] for row in rows][:11], [2] * 4 + [1] * 5 + [None] * 2, name)
            self.assertEqual([row["against"] for row in rows][:11], [None] * 9 + [0, None], name)
            self.assertTrue(all(0.8 <= row["similarity"] <= 1 for row in rows[:10] + rows[13:]), name)
        for table in tables().values():
            report = rows_of(neardup.dedupe(table, text="body", report=True, against=DOCUMENTS.slice(0, 1)))
            self.assertEqual([(row["keeper"], row["against"]) for row in report[:3]], [(None, 0), (1, None), (2, None)])

    def test_names(self):
        """Columns whose names are no texts, or empty."""
        for text, id in (0, 1), (1, 0), (("a", "t"), ("a", "id")), ("", "id"), ("text", ""):
            table = pandas.DataFrame({text: TEXTS, id: range(5, 5 + len(TEXTS))})
            self.assertEqual(neardup.dedupe(table, text=text)[id].tolist(), [5 + i for i in STAY])
            for records in table, [{text: body, id: 5 + i} for i, body in enumerate(TEXTS)]:
                report = neardup.dedupe(records, text=text, id=id, report=True, against=records[:1])
                rows = report if isinstance(report, list) else report.to_dict("records")
                keepers, against = ([row.get(name, row.get((name, ""))) for row in rows] for name in ("keeper", "against"))
                self.assertEqual((keepers[-3:], against[-4], pandas.isna(keepers[0]), against[0]), ([6, 7, 8], 5, True, 5), text)
        self.assertRaisesRegex(ValueError, "no column 2: the columns are 0, 'b'", neardup.dedupe, [{0: "a", "b": 1}], text=2)

    def test_carried(self):
        """Types of which pyarrow chooses no rows by itself."""
        view, count = pyarrow.string_view(), len(TEXTS)
        long = "longer than a view has within itself"
        for kind, item in ((pyarrow.list_(view), [long, None]), (pyarrow.large_list(view), ["x"]), (pyarrow.list_(view, 1), [long]), (pyarrow.struct([("a", view)]), {"a": long}),
                           (pyarrow.list_(pyarrow.struct([("a", pyarrow.binary_view())])), [{"a": b"x"}]), (pyarrow.list_view(view), ["x"])):
            column = pyarrow.array([item, None] * count, kind)[:count]
            for some in column, pyarrow.chunked_array([column[:3], column[3:]]):
                made = neardup.dedupe(pyarrow.table({"body": TEXTS, "x": some}, pyarrow.schema([("body", "string"), pyarrow.field("x", kind, metadata={"m": "n"})])), text="body")
                made.validate(full=True)
                self.assertEqual((made.schema.field("x").type, made.schema.field("x").metadata, made["x"].to_pylist()), (kind, {b"m": b"n"}, column.to_pylist()[:13]), kind)
        runs = pyarrow.compute.run_end_encode(pyarrow.array(["a", "a", None, "b"] * count)[:count], run_end_type=pyarrow.int16())
        for table in pyarrow.table({"body": TEXTS, "x": runs}), pyarrow.record_batch({"body": TEXTS, "x": runs}):
            made = neardup.dedupe(table, text="body")
            self.assertEqual((type(made), made.schema, made["x"].to_pylist()), (type(table), table.schema, runs.to_pylist()[:13]))
        map_of_views = pyarrow.table({"body": TEXTS, "x": pyarrow.array([[("a", "b")]] * count, pyarrow.map_(view, view))})
        self.assertRaisesRegex(TypeError, r"column 'x', whose type is map<string_view, string_view>", neardup.dedupe, map_of_views, text="body")
        self.assertRaisesRegex(TypeError, "not run_end_encoded", neardup.minhash, runs)
        self.assertRaisesRegex(TypeError, "not run_end_encoded", neardup.dedupe, runs)

    def check_ids(self, table, names, same):
        """Checks that a table of six rows, of which three stay, comes out with its types, and so do ids of each of its columns: `same`
        returns whether columns of two tables have equal types and items, or some of the items of the second."""
        for side in None, table:
            stay = neardup.dedupe(table, text="text") if side is None else neardup.dedupe(table, text="text", against=table[3:3] if isinstance(table, polars.DataFrame) else None)
            for name in names:
                self.assertTrue(same(stay, name, table, name, [0, 1, 2]), name)
                report = neardup.dedupe(table, text="text", id=name, report=True, against=side)
                self.assertTrue(same(report, name, table, name, range(6)), name)
                self.assertTrue(same(report, "keeper", table, name, [0, 1, 2, 0, 1, 2] if side is None else [None] * 6), name)
                if side is not None:
                    self.assertTrue(same(report, "against", table, name, [0, 1, 2, 0, 1, 2]), name)

    def test_ids_pyarrow(self):
        table = arrow_table()
        more = {"interval": pyarrow.array([(1, 2, 3), (-1, 0, 2**62), None] * 2, pyarrow.month_day_nano_interval()), "list_view": pyarrow.array([["a"], [], None] * 2, pyarrow.list_view(pyarrow.string())),
                "runs": pyarrow.compute.run_end_encode(pyarrow.array([1, 1, 2] * 2))}
        for name, column in more.items():
            table = table.append_column(name, column)

        def same(made, name, was, other, places):
            column = was[other].take(pyarrow.array(places, pyarrow.int64())) if other != "runs" else pyarrow.chunked_array([pyarrow.compute.run_end_encode(pyarrow.array([None if i is None else was[other][i].as_py() for i in places], pyarrow.int64()))])
            return (made[name].type, str(made[name].combine_chunks())) == (column.type, str(column.combine_chunks()))

        self.check_ids(table, [name for name in table.column_names if "string_view" not in name and "binary_view" not in name], same)
        self.check_ids(datasets.Dataset(table.select(["text", "number", "uint64", "decimal128(38, 2)", "timestamp[ns]"])), ["number", "uint64", "timestamp[ns]", "decimal128(38, 2)"],
                       lambda made, name, was, other, places: made.features[name] == was.features[other] and same(made.with_format("arrow")[:], name, was.with_format("arrow")[:], other, places))

    def test_ids_polars(self):
        frame = polars_frame().with_columns(polars.Series("object", [object() for _ in range(6)], dtype=polars.Object))
        self.check_ids(frame, frame.columns, lambda made, name, was, other, places: made[name].dtype == was[other].dtype and made[name].to_list() == [None if i is None else was[other].to_list()[i] for i in places])

    def test_ids_pandas(self):
        kinds = ["int8", "int32", "float32", "complex64", "datetime64[ns]", "datetime64[s]", "datetime64[ns, UTC]", "timedelta64[ns]", "Int16", "UInt64", "Float32", "string", "object", "category",
                 "timestamp[ns][pyarrow]", "uint64[pyarrow]"]
        frame = pandas.DataFrame({**{kind: pandas.Series([0, 1, 100] * 2).astype(kind) for kind in kinds}, **{kind: pandas.array([True, False, True] * 2, kind) for kind in ("bool", "boolean")}})
        frame["period[M]"], frame["uint64"] = pandas.period_range("2020", periods=6, freq="M"), pandas.Series([2**63 + 1, 2**64 - 1, 0] * 2, dtype="uint64")
        frame["text"] = arrow_table()["text"].to_pylist()
        nullable = {"int8": "Int8", "int32": "Int32", "uint64": "UInt64", "bool": "boolean"}

        def same(made, name, was, other, places):
            dtype = nullable.get(other, was[other].dtype) if None in places else was[other].dtype
            items = [pandas.NA if i is None else was[other][i] for i in places]
            return made[name].dtype == dtype and all(pandas.isna(a) and pandas.isna(b) or a == b for a, b in zip(made[name], items))

        self.check_ids(frame, frame.columns, same)

    def test_ids_duckdb(self):
        """All types of DuckDB, in one connection, and where the rows of a relation are others each time."""
        database = duckdb.connect()
        texts = arrow_table().select(["text"]).append_column("place", [[0, 1, 2] * 2])
        database.execute("""CREATE TABLE result AS SELECT text, '10110'::BIT AS bits, types.* FROM (SELECT row_number() OVER () - 1 AS place, * FROM test_all_types()) AS types JOIN texts USING (place)""")
        database.execute("CREATE TABLE neardup_rows AS SELECT 1; CREATE VIEW docs AS SELECT *, '{\"a\": 1}'::JSON AS json, random() AS chance, NULL AS nothing FROM result")
        table = database.table("docs")
        made = neardup.dedupe(table, text="text")
        self.assertEqual((made.columns, made.types), (table.columns, table.types))
        database.execute("SET threads = 1")
        self.assertEqual(repr(database.sql("SELECT * EXCLUDE (chance) FROM made").fetchall()), repr(database.sql("SELECT * EXCLUDE (chance) FROM docs LIMIT 3").fetchall()))
        self.assertEqual(repr(made.fetchall()), repr(made.fetchall()))
        self.assertEqual(len(database.sql("SELECT * FROM duckdb_tables() WHERE temporary").fetchall()), 1)
        other = duckdb.connect()
        for name, kind in zip(table.columns, table.types):
            some = database.sql(f'SELECT text, "{name}" AS x FROM docs')
            report = neardup.dedupe(some, text="text", id="x", report=True)
            self.assertEqual((report.columns[:3], report.types[:3]), (["text", "x", "keeper"], [*some.types, kind]))
            held = neardup.dedupe(some, text="text", id="x", report=True, against=some)
            self.assertEqual(held.types[held.columns.index("against")], kind)
            rows = 6 if name != "chance" else 0
            self.assertEqual(database.sql("SELECT count(*) FROM report WHERE keeper IS NOT DISTINCT FROM x").fetchall(), [(rows or 3,)], name)
            self.assertEqual(database.sql("SELECT count(*) FROM held WHERE against IS NOT DISTINCT FROM x AND keeper IS NULL").fetchall(), [(rows,)], name)
        # Ids of a relation of another connection, and of other packages, come by Arrow.
        held = neardup.dedupe(table, text="text", id="text", report=True, against=other.sql("SELECT text, 7::UTINYINT AS id FROM texts").select("text, id, text AS t"))
        self.assertEqual(held.fetchall()[0][held.columns.index("against")], texts["text"][0].as_py())
        for some in DOCUMENTS, polars.DataFrame(DOCUMENTS), DOCUMENTS.to_pandas(), datasets.Dataset(DOCUMENTS), DOCUMENTS.to_pylist(), DOCUMENTS.to_batches()[0]:
            for side in (duckdb.sql("FROM DOCUMENTS"), DOCUMENTS, polars.DataFrame(DOCUMENTS), DOCUMENTS.to_pandas(), DOCUMENTS.to_pylist(), datasets.Dataset(DOCUMENTS)):
                rows = rows_of(neardup.dedupe(some, text="body", id="id", report=True, against=side))
                self.assertEqual([row["against"] for row in rows][:11], [*IDS[:10], None], (type(some), type(side)))

    def test_lists(self):
        for name, column in columns().items():
            if name not in ("table of one", "DuckDB") and "binary" not in name:
                made = neardup.dedupe(column)
                self.assertIs(type(made), list if name in ("datasets", "an iterator of daft") else type(column), name)
                items = made if isinstance(made, list) else made.tolist() if hasattr(made, "tolist") else made.to_pylist() if hasattr(made, "to_pylist") else made.to_list()
                self.assertEqual([None if item is pandas.NA or item != item else item for item in items], TEXTS[:13], name)
        self.assertEqual(neardup.dedupe(list(numpy.array(WORDS * 2))), WORDS)
        for values in neardup.minhash(TEXTS), pyarrow.array(neardup.minhash(TEXTS)), polars.Series(neardup.minhash(TEXTS)), list(neardup.minhash(TEXTS)):
            self.assertEqual(neardup.dedupe(values), list(STAY))

    def test_refused(self):
        for name, table in tables().items():
            self.assertRaisesRegex(TypeError, "text=: the columns are '", neardup.dedupe, table)
            if name != "dicts":
                self.assertRaises(TypeError, neardup.minhash, table)
                self.assertRaises(TypeError, neardup.pairs, table, 0.8)
                self.assertRaises(TypeError, neardup.Lexicon.learn, table)
            if name != "a reader":
                self.assertRaisesRegex(ValueError, "no column 'text'", neardup.dedupe, table, text="text")
        self.assertRaisesRegex(TypeError, "collect", neardup.dedupe, polars.DataFrame(DOCUMENTS).lazy(), text="body")
        self.assertRaisesRegex(TypeError, "streaming", neardup.dedupe, datasets.Dataset(DOCUMENTS).to_iterable_dataset(), text="body")
        self.assertRaisesRegex(TypeError, "one of its tables", neardup.dedupe, datasets.DatasetDict(train=datasets.Dataset(DOCUMENTS)), text="body")
        self.assertRaises(TypeError, neardup.minhash, pyarrow.array([1, 2]))
        self.assertRaises(TypeError, neardup.minhash, pyarrow.array([["a"]]))

    def test_functions(self):
        """As a function of DuckDB, for a value at a time and for a column."""
        database = duckdb.connect()
        database.create_function("one", lambda text: neardup.minhash(text), ["VARCHAR"], "BLOB")
        database.create_function("many", lambda texts: pyarrow.array(neardup.minhash(texts)), ["VARCHAR"], "BLOB", type="arrow")
        for call in "one", "many":
            found = database.execute(f"SELECT {call}(body) FROM DOCUMENTS WHERE body <> ''").fetchall()
            self.assertEqual([row[0] for row in found], [neardup.minhash(text) for text in TEXTS if text])

    def test_progress(self):
        with tqdm.tqdm(total=len(TEXTS), disable=None) as bar:
            neardup.dedupe(DOCUMENTS, text="body", progress=bar.update)
        self.assertEqual(bar.n, 0 if bar.disable else len(TEXTS))

    def test_end(self):
        """Arrays that are left when the interpreter ends, or whose reader fails, are freed."""
        program = """if True:
            import neardup, pyarrow, polars
            kept = [pyarrow.array(neardup.minhash(["a b c"] * 1000)), polars.Series(neardup.shingles(["a b c"] * 1000))]
            capsules = neardup.minhash(["a b"]).__arrow_c_array__()
            for wrong in lambda v: pyarrow.array(v, pyarrow.int64()), lambda v: pyarrow.table(v):
                try:
                    wrong(neardup.minhash(["a"]))
                except Exception:
                    print("refused")"""
        self.assertEqual(subprocess.run([sys.executable, "-c", program], cwd=HERE, capture_output=True, text=True, check=True).stdout, "refused\n" * 2)

    def test_page(self):
        page = (pathlib.Path(__file__).parents[2] / "doc/reference/python.md").read_text(encoding="utf-8")
        [(program, output)] = re.findall(r"^```python\n(.*?)^```\n```output\n(.*?)^```", page, re.M | re.S)
        self.assertEqual(subprocess.run([sys.executable, "-c", program], cwd=HERE, capture_output=True, text=True, check=True).stdout, output)

    def test_wheel(self):
        wheel = importlib.metadata.distribution("neardup")
        self.assertEqual(wheel.version, neardup.__version__)
        self.assertEqual([need.partition(";")[2].split() for need in wheel.requires], [["extra", "==", '"parquet"']])
        names = {file.name for file in wheel.files}
        self.assertLessEqual({"LICENSE", "LICENSE.utf8proc", "LICENSE.xxHash", "py.typed", "libneardup.so.0"}, names)

    def test_engines(self):
        """Plain processes do what tasks of engines do, and the answer is that of one call."""
        digest, count, pool = _engines.DIGEST, 700, concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))
        texts = [None if i % 97 == 5 else " ".join(f"w{(i * i % 300) * 100 + word + (i % 7) * (word % 11 == 3)}" for word in range(40)) for i in range(count)]
        table = pyarrow.table({"url": [f"u{i * 7919 % count:05}" for i in range(count)], "body": texts, "day": [i * 31 % 9 for i in range(count)]})
        ordered = table.sort_by([("day", "ascending"), ("url", "ascending")])
        old, new = ordered.filter(pyarrow.compute.less(ordered["url"], "u00300")), ordered.filter(pyarrow.compute.greater_equal(ordered["url"], "u00300"))
        for nearest, decide in itertools.product((False, True), ("signatures", "texts")):
            how = _engines.how_of("body", "url", "day", table.column_names, threshold=0.5, nearest=nearest, decide=decide)
            more = {"text": "body", "id": "url", "report": True, "nearest": nearest, "decide": decide}
            expected = rows_of(neardup.dedupe(ordered, 0.5, **more).select(["url", *_engines.REPORT]).rename_columns(["id", *_engines.REPORT]))
            signed = [_engines.sign(how, 1, table.slice(i, 300)) for i in range(0, count, 300)]
            self.assertEqual(_engines.cluster(how, signed).drop_columns(digest).to_pylist(), expected)
            for blocks in 2, 3:
                signed = _engines.sign(how, blocks, ordered).append_column("row", pyarrow.array(range(count)))
                edges = pool.map(_join_part, [(how, blocks, a, b, [signed.filter(pyarrow.compute.is_in(signed["block"], pyarrow.array([a, b])))])
                                              for a, b in _engines.parts_of(blocks)])
                found = _engines.keep(how, edges := list(edges))
                parts = [(first, signed.slice(first, 250)) for first in range(0, count, 250)]
                names = pyarrow.concat_tables([_engines.named(*part, found) for part in parts])
                self.assertEqual([row for part in parts for row in _engines.answer(*part, found, names).drop_columns(digest).to_pylist()], expected)
                # Rows that have other numbers than when they were joined, for all tasks or for some.
                for wrong in (lambda: _engines.named(1, signed, found), lambda: _engines.answer(0, signed.set_column(signed.column_names.index(digest), digest, [[0] * count]), found, names),
                              lambda: _engines.keep(how, [*edges, edges[0].set_column(3, "digest_a", [[0] * len(edges[0])])])):
                    self.assertRaisesRegex(ValueError, "other rows than before", wrong)
            # What is similar to old rows, by one task, and by one for each block of them.
            expected = neardup.dedupe(new, 0.5, against=old.sort_by("url"), **more)
            expected = sorted((row["url"], row["against"], row["similarity"]) for row in rows_of(expected) if row["against"])
            for blocks in 1, 3:
                sides = [_engines.sign(how, blocks, side).append_column("old", [[side is old] * len(side)]) for side in (new, old)]
                tasks = [[sides[0], sides[1].filter(pyarrow.compute.equal(sides[1]["block"], i)) if blocks > 1 else sides[1]] for i in range(blocks)]
                held = _engines.held_once(how, pyarrow.concat_tables([_engines.hold(how, task) for task in tasks]))
                self.assertEqual([tuple(row.values()) for row in held.drop_columns(digest).to_pylist()], expected)
        with self.assertRaisesRegex(ValueError, "'url' has a null"):
            _engines.sign(how, 1, table.set_column(0, "url", [[None] * count]))
        with self.assertRaisesRegex(ValueError, "several rows"):
            _engines.cluster(how, [signed, signed])
        zeros = pyarrow.table({"url": [0.0, 1.0, -0.0], "body": texts[:3], "day": [1, 2, 3]})
        with self.assertRaisesRegex(ValueError, "several rows"):
            _engines.cluster(how, [_engines.sign(how, 1, zeros)])
        for more in {"order": "date"}, {"against": ["body"]}, {"decide": "chance"}, {"report": True, "columns": ["url", "body", "day", "size"]}:
            with self.assertRaisesRegex(ValueError, "no column 'date'|no column 'url'|'chance'|'size' already"):
                _engines.how_of("body", "url", **{"order": "day", "columns": table.column_names, **more})
        pool.shutdown()

    def test_duckdb(self):
        """DuckDB's functions give what the package does."""
        database = duckdb.connect()
        neardup.duckdb.register(database, k=64, scheme="word 1")
        database.execute("CREATE TABLE t AS SELECT id, body, to_minhash(body) AS a, to_simhash(body) AS b, to_shingles(body) AS c FROM DOCUMENTS")
        for name, made in {"a": neardup.minhash(TEXTS, k=64, scheme="word 1"), "b": neardup.simhash(TEXTS), "c": neardup.shingles(TEXTS, scheme="word 1")}.items():
            self.assertEqual([value for value, in database.execute(f"SELECT {name} FROM t ORDER BY rowid").fetchall()], list(made))
            found = database.execute(f"SELECT similarity(x.{name}, y.{name}) FROM t x, t y ORDER BY x.rowid, y.rowid").fetchall()
            self.assertEqual([value for value, in found], [None if None in pair else neardup.similarity(*pair) for pair in itertools.product(made, made)])

    def test_parts(self):
        values = neardup.minhash(TEXTS[:3] * 2 + TEXTS)
        pairs = sorted(neardup.pairs(values, 0.5))
        for blocks in 1, 2, 5:
            parts = [neardup.pairs(values, 0.5, part=(blocks, a, b)) for b in range(blocks) for a in range(b + 1)]
            self.assertEqual(sorted(pair for part in parts for pair in part), pairs)
        self.assertEqual(set(neardup.blocks_of(values, 1)), {0})
        self.assertEqual(neardup.blocks_of(values, 1000)[:3], neardup.blocks_of(values, 1000)[3:6])
        edges = numpy.array(pairs, [("a", "u8"), ("b", "u8"), ("similarity", "f8")])
        found = numpy.frombuffer(neardup.keepers(iter([edges[:3], edges[:0], edges[3:]])), edges.dtype)
        expected = [(i, keeper, similarity) for i, (keeper, similarity) in enumerate(zip(*neardup.clusters(values, 0.5))) if keeper not in (i, neardup.NO_KEEPER)]
        self.assertEqual(found.tolist(), expected)
        with self.assertRaisesRegex(ZeroDivisionError, "zero"):
            neardup.keepers(bytes(24 // (1 - i)) for i in range(2))
        with self.assertRaisesRegex(neardup.NeardupError, "2 blocks"):
            neardup.pairs(values, 0.5, part=(2, 1, 0))

    def test_checkers(self):
        folder = pathlib.Path(neardup.__file__).parent
        for checker in ("mypy", "--strict", "--cache-dir", os.devnull), ("ruff", "check", "--no-cache", "--line-length", "160"):
            found = subprocess.run([sys.executable, "-m", *checker, folder], cwd="/", capture_output=True, text=True, check=False)
            self.assertEqual(found.returncode, 0, found.stdout + found.stderr)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    result = unittest.TextTestRunner(resultclass=Tap, stream=sys.stderr, verbosity=0).run(unittest.defaultTestLoader.loadTestsFromTestCase(Tables))
    sys.exit(not result.wasSuccessful())
