"""Compares neardup on Spark, Ray and DuckDB with a server, row by row.  Prints the lines of TAP.

The argument is the wheel, which workers get as doc/how-to/spark-and-ray.md says."""

import importlib.metadata
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import duckdb
import neardup.duckdb
import neardup.ray
import neardup.spark
import psycopg
import pyarrow
import pyarrow.compute
import pyarrow.parquet
import ray
from pyspark.sql import SparkSession

TOP = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(TOP / "test/library"))
from test_python import Tap

WHEEL = os.path.abspath(sys.argv.pop())
ROWS = int(os.environ.get("NEARDUP_ROWS", "20000"))
COLUMNS = ["url", "keeper", "similarity", "size"]
FORM = "please complete all fields of this form and return it to the office before the end of the month with "
COMPARED = "SELECT url, {values} FROM texts {where} ORDER BY crawled, url COLLATE \"C\""
VALUES = {"signatures": "to_minhash(body)", "texts": "to_minhash(body), to_shingles(body)"}


def make_texts():
    """Returns texts with copies, chains of small edits, a form in 30 % of them, and some without a text."""
    dice, texts = random.Random(20), []
    for i in range(ROWS):
        words = texts[dice.randrange(max(0, i - 2000), i)].split() if i and dice.random() < 0.4 else []
        if words:
            for _ in range(dice.choice((0, 1, 2, 3, 5, 8))):
                words[dice.randrange(len(words))] = f"x{dice.randrange(10**6)}"
        else:
            words = (FORM if dice.random() < 0.3 else "").split() + [f"w{dice.randrange(50_000)}" for _ in range(dice.randrange(20, 120))]
        texts.append(" ".join(words))
    for i in range(0, ROWS, 97):
        texts[i] = None if i % 2 else "..."
    return pyarrow.table({"url": [f"{i * 7919 % ROWS:x}{'Aäb'[i % 3]}" for i in range(ROWS)], "body": texts, "crawled": [dice.randrange(30) for _ in range(ROWS)],
                          "more": [{"n": i, "of": [str(i)]} for i in range(ROWS)]})


TEXTS = make_texts()
EARLY = TEXTS.filter(pyarrow.compute.less(TEXTS["crawled"], 20))
LATE = TEXTS.filter(pyarrow.compute.greater_equal(TEXTS["crawled"], 20))


class Server:
    """Answers of the server, each asked once."""

    def __init__(self):
        self.connection, self.known = psycopg.connect(autocommit=True), {}
        self.connection.execute("CREATE EXTENSION neardup; CREATE TABLE texts (url text PRIMARY KEY, body text, crawled int)")
        with self.connection.cursor().copy("COPY texts FROM STDIN") as copy:
            for row in zip(*(TEXTS[name].to_pylist() for name in ("url", "body", "crawled"))):
                copy.write_row(row)

    def ask(self, query):
        if query not in self.known:
            self.known[query] = self.connection.execute(query).fetchall()
        return self.known[query]

    def report(self, decide, nearest=False):
        """Returns all rows: those of clusters of two and more, and the others, which neardup_clusters() leaves out."""
        query = COMPARED.format(values=VALUES[decide], where="").replace("'", "''")
        return sorted(self.ask(f"""SELECT url, CASE WHEN c.id IS NULL AND NOT alone THEN NULL ELSE coalesce(c.keeper, url) END,
            CASE WHEN c.id IS NULL AND NOT alone THEN 0 ELSE coalesce(c.similarity, 1) END, CASE WHEN c.id IS NULL AND NOT alone THEN NULL ELSE coalesce(c.size, 1) END
            FROM (SELECT url, coalesce(body ~ '\\w', false) AS alone FROM texts) AS t LEFT JOIN
            neardup_clusters('{query}', 0.8, NULL::text, nearest => {nearest}) AS c ON c.id = url"""))


def kept(report):
    return sorted(row[0] for row in report if row[1] in (None, row[0]))


def write(table):
    """Writes three files of a table; returns their folder."""
    folder, rows = tempfile.mkdtemp(), len(table) // 3 + 1
    for i in range(3):
        pyarrow.parquet.write_table(table.slice(i * rows, rows), f"{folder}/{i}.parquet")
    return folder


def rows_of(table, names):
    return list(zip(*(table[name].to_pylist() for name in names)))


def where():
    """Returns where a worker has the package."""
    import neardup
    return neardup.__file__


class Engine:
    """What the tests of an engine share: `frame` makes a frame of a table, `rows` reads some columns."""

    def dedupe(self, table, **more):
        return self.module.dedupe(self.frame(table), 0.8, **{"text": "body", "id": "url", "order": "crawled", **more})

    def compare(self, decide, nearest=False, **more):
        expected, start = SERVER.report(decide, nearest), time.monotonic()
        found = sorted(self.rows(self.dedupe(TEXTS, decide=decide, nearest=nearest, report=True, **more), COLUMNS))
        print(f"# {self.module.__name__}: {decide}{', nearest' * nearest}, {more}: {len(found)} rows, {len(kept(found))} stay, in {time.monotonic() - start:.1f} s", flush=True)
        self.assertEqual(len(found), ROWS)
        self.assertEqual([pair for pair in zip(found, expected) if pair[0] != pair[1]][:5], [])

    def test_signatures(self):
        self.compare("signatures")

    def test_signatures_by_blocks(self):
        self.compare("signatures", blocks=4)

    def test_signatures_nearest(self):
        self.compare("signatures", True, blocks=3)

    def test_texts(self):
        self.compare("texts")

    def test_texts_by_blocks(self):
        self.compare("texts", blocks=4)

    def test_rows(self):
        """What stays comes out as it came in."""
        expected = dict(zip(TEXTS["url"].to_pylist(), TEXTS.to_pylist()))
        for blocks in None, 2:
            found = self.rows(self.dedupe(TEXTS, blocks=blocks), TEXTS.column_names)
            self.assertEqual(sorted(row[0] for row in found), kept(SERVER.report("texts")))
            for url, body, crawled, more in found[:100]:
                self.assertEqual({"url": url, "body": body, "crawled": crawled, "more": more}, expected[url])

    def test_runs(self):
        """A second run against what the first kept says what one run of all does; old keepers stay."""
        for decide, blocks in ("texts", None), ("signatures", 2):
            first = {url for url, in self.rows(self.dedupe(EARLY, decide=decide, blocks=blocks), ["url"])}
            old = EARLY.filter(pyarrow.compute.is_in(EARLY["url"], pyarrow.array(sorted(first))))
            second = {url for url, in self.rows(self.dedupe(LATE, decide=decide, blocks=blocks, against=self.frame(old.select(["body", "url"]))), ["url"])}
            self.assertEqual(sorted(first | second), kept(SERVER.report(decide)))

    def test_wheel(self):
        """Workers have the wheel that they were given."""
        self.assertNotEqual(self.where(), where())

    def test_refused(self):
        nulls = TEXTS.set_column(2, "crawled", pyarrow.array([None, *range(1, ROWS)]))
        twice = pyarrow.concat_tables([TEXTS, TEXTS.slice(0, 1)])
        for table, message in (nulls, "'crawled' has a null"), (twice, "several rows"):
            for blocks in 1, 2:
                with self.assertRaisesRegex(Exception, message):
                    self.rows(self.dedupe(table, blocks=blocks, decide="signatures"), ["url"])


class Spark(Engine, unittest.TestCase):
    module = neardup.spark

    @classmethod
    def setUpClass(cls):
        archive = os.path.join(tempfile.gettempdir(), "neardup.zip")
        shutil.copy(WHEEL, archive)
        settings = {"spark.archives": f"{archive}#neardup_wheel", "spark.executorEnv.PYTHONPATH": "neardup_wheel"}
        cls.session = SparkSession.builder.master("local-cluster[2,1,2048]").config(map=settings).getOrCreate()

    @classmethod
    def tearDownClass(cls):
        cls.session.stop()

    def frame(self, table):
        return self.session.read.parquet(write(table))

    def rows(self, frame, names):
        return rows_of(frame.select(*names).toArrow(), names)

    def where(self):
        return self.session.sparkContext.parallelize([0], 1).map(lambda _: where()).collect()[0]

    def test_memory(self):
        """No frame stays cached when a result is known."""
        result = self.dedupe(TEXTS, blocks=2)
        self.assertTrue(self.session._jsparkSession.sharedState().cacheManager().isEmpty())
        self.assertEqual(result.count(), len(kept(SERVER.report("texts"))))


class Ray(Engine, unittest.TestCase):
    module = neardup.ray

    @classmethod
    def setUpClass(cls):
        ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", object_store_memory=10**9, log_to_driver=False, logging_level="error",
                 runtime_env={"py_modules": [WHEEL]})
        ray.data.DataContext.get_current().enable_progress_bars = False

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()

    def frame(self, table):
        return ray.data.read_parquet(write(table))

    def rows(self, frame, names):
        return rows_of(pyarrow.concat_tables(ray.get(frame.to_arrow_refs()), promote_options="permissive"), names)

    def where(self):
        return ray.get(ray.remote(where).remote())


class DuckDb(unittest.TestCase):
    def test_functions(self):
        connection = duckdb.connect()
        neardup.duckdb.register(connection)
        connection.register("texts", TEXTS)
        found = connection.execute("SELECT url, to_minhash(body), to_simhash(body), to_shingles(body) FROM texts ORDER BY url").fetchall()
        expected = SERVER.ask('SELECT url, minhash_send(to_minhash(body)), simhash_send(to_simhash(body)), shingles_send(to_shingles(body)) FROM texts ORDER BY url COLLATE "C"')
        self.assertEqual(found, expected)


class Page(unittest.TestCase):
    def test_page(self):
        """Blocks of the page run in order, in a folder of their own that has the wheel, and print what it shows."""
        page = (TOP / "doc/how-to/spark-and-ray.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(WHEEL, folder)
            for language, program, shown in re.findall(r"^```(python|sh)\n(.*?)^```\n(?:```output\n(.*?)^```)?", page, re.MULTILINE | re.DOTALL):
                local = program.replace("ray.init(", 'ray.init(_node_ip_address="127.0.0.1", ')
                done = subprocess.run({"sh": ["bash", "-e"], "python": [sys.executable, "-W", "ignore"]}[language], input=local, cwd=folder, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout if shown else ""), (0, shown), program + done.stderr[-3000:])


if __name__ == "__main__":
    print("#", ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("pyspark", "ray", "duckdb", "pyarrow")), flush=True)
    SERVER = Server()
    print("# the server:", *SERVER.ask("SELECT version()")[0], flush=True)
    sys.exit(not unittest.main(testRunner=unittest.TextTestRunner(resultclass=Tap, stream=sys.stderr, verbosity=0), exit=False).result.wasSuccessful())
