"""Compares neardup on Spark, Ray and DuckDB with a server, row by row.  Prints the lines of TAP.

The argument is the wheel, which workers get as doc/how-to/spark-and-ray.md says."""

import contextlib
import functools
import importlib.metadata
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import duckdb
import neardup
import neardup.duckdb
import neardup.ray
import neardup.spark
import psycopg
import pyarrow
import pyarrow.compute
import pyarrow.parquet
import ray
from pyspark.sql import SparkSession, functions

TOP = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(TOP / "test/library"))
from test_python import Tap

WHEEL = os.path.abspath(sys.argv.pop())
# Rows of a file, and of a table of make_texts().
FILE = 50_000
ROWS = int(os.environ.get("NEARDUP_ROWS", "20000"))
COLUMNS = ["url", "keeper", "similarity", "size"]
FORM = "please complete all fields of this form and return it to the office before the end of the month with "
COMPARED = "SELECT url, {values} FROM texts {where} ORDER BY crawled, url COLLATE \"C\""
VALUES = {"signatures": "to_minhash(body)", "texts": "to_minhash(body), to_shingles(body)"}


def make_texts():
    """Yields tables of texts with copies, chains of small edits, a form in 30 % of them, and some without a text."""
    dice, made = random.Random(20), []
    for first in range(0, ROWS, FILE):
        made, numbers = made[-2000:], range(first, min(first + FILE, ROWS))
        for _ in numbers:
            words = made[dice.randrange(max(0, len(made) - 2000), len(made))].split() if made and dice.random() < 0.4 else []
            if words:
                for _ in range(dice.choice((0, 1, 2, 3, 5, 8))):
                    words[dice.randrange(len(words))] = f"x{dice.randrange(10**6)}"
            else:
                words = (FORM if dice.random() < 0.3 else "").split() + [f"w{dice.randrange(50_000)}" for _ in range(dice.randrange(20, 120))]
            made.append(" ".join(words))
        bodies = [text if i % 97 else None if i % 2 else "..." for i, text in zip(numbers, made[-len(numbers):])]
        yield pyarrow.table({"url": [f"{i * 7919 % ROWS:x}{'Aäb'[i % 3]}" for i in numbers], "body": bodies, "crawled": [dice.randrange(30) for _ in numbers],
                             "more": [{"n": i, "of": [str(i)]} for i in numbers]})


@functools.cache
def texts():
    return pyarrow.concat_tables(make_texts())


class Server:
    """Answers of the server, each asked once."""

    def __init__(self):
        self.connection, self.known = psycopg.connect(autocommit=True), {}
        self.connection.execute("CREATE EXTENSION neardup; CREATE TABLE texts (url text PRIMARY KEY, body text, crawled int)")
        with self.connection.cursor().copy("COPY texts FROM STDIN") as copy:
            for row in zip(*(texts()[name].to_pylist() for name in ("url", "body", "crawled"))):
                copy.write_row(row)
        print("# the server:", *self.ask("SELECT version()")[0], flush=True)

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


@functools.cache
def server():
    return Server()


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
        expected, start = server().report(decide, nearest), time.monotonic()
        found = sorted(self.rows(self.dedupe(texts(), decide=decide, nearest=nearest, report=True, **more), COLUMNS))
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
        expected = dict(zip(texts()["url"].to_pylist(), texts().to_pylist()))
        for blocks in None, 2:
            found = self.rows(self.dedupe(texts(), blocks=blocks), texts().column_names)
            self.assertEqual(sorted(row[0] for row in found), kept(server().report("texts")))
            for url, body, crawled, more in found[:100]:
                self.assertEqual({"url": url, "body": body, "crawled": crawled, "more": more}, expected[url])

    def test_runs(self):
        """A second run against what the first kept says what one run of all does; old keepers stay."""
        early, late = (texts().filter(part(texts()["crawled"], 20)) for part in (pyarrow.compute.less, pyarrow.compute.greater_equal))
        for decide, blocks in ("texts", None), ("signatures", 2):
            first = {url for url, in self.rows(self.dedupe(early, decide=decide, blocks=blocks), ["url"])}
            old = early.filter(pyarrow.compute.is_in(early["url"], pyarrow.array(sorted(first))))
            second = {url for url, in self.rows(self.dedupe(late, decide=decide, blocks=blocks, against=self.frame(old.select(["body", "url"]))), ["url"])}
            self.assertEqual(sorted(first | second), kept(server().report(decide)))

    def test_report_of_runs(self):
        """A report of a later run has what each row is similar to: an old one, or a keeper."""
        table = pyarrow.table({"url": ["u0", "u1", "u2", "u3"], "body": ["a b c d e", "v w x y z"] * 2, "crawled": [0, 1, 2, 3]})
        report = self.dedupe(table.slice(1), against=self.frame(table.slice(0, 1)), report=True)
        self.assertEqual(sorted(self.rows(report, [*COLUMNS, "against"])), [("u1", "u1", 1, 2, None), ("u2", None, 1, None, "u0"), ("u3", "u1", 1, 2, None)])

    def test_wheel(self):
        """Workers have the wheel that they were given."""
        self.assertNotEqual(self.where(), where())

    def test_refused(self):
        nulls = texts().set_column(2, "crawled", pyarrow.array([None, *range(1, ROWS)]))
        twice = pyarrow.concat_tables([texts(), texts().slice(0, 1)])
        for table, message in (nulls, "'crawled' has a null"), (twice, "several rows"):
            for blocks in 1, 2:
                with self.assertRaisesRegex(Exception, message):
                    self.rows(self.dedupe(table, blocks=blocks, decide="signatures"), ["url"])


    def test_other_rows(self):
        """Rows that are others, or gone, when the result is read are an error: what goes was compared with them."""
        table = pyarrow.table({"url": ["u0", "u1", "u2"], "body": ["a b c d e", "v w x y z", "a b c d e"], "crawled": [0, 1, 2]})
        changes = {"the one that goes": lambda t: t.set_column(1, "body", [["a b c d e", "v w x y z", "other"]]), "the one that stays for it": lambda t: t.set_column(1, "body", [["other", "v w x y z", "a b c d e"]]),
                   "a row is gone": lambda t: t.slice(1), "all are gone": lambda t: t.slice(3)}
        flag = pathlib.Path(tempfile.mkdtemp(), "flag")
        for (name, change), blocks, report in zip(changes.items(), (None, 2, 2, None), (False, False, True, False)):
            frame = self.mapped(table, lambda some, change=change: change(some) if os.path.exists(flag) else some)
            result = self.module.dedupe(frame, text="body", id="url", order="crawled", blocks=blocks, report=report)
            flag.touch()
            with self.assertRaisesRegex(Exception, "other rows than before", msg=name):
                self.rows(result, ["body", "url"])
            flag.unlink()
            self.assertEqual(sorted(url for url, in self.rows(result, ["url"])), ["u0", "u1", "u2"] if report else ["u0", "u1"])


def spark_of(executors, **settings):
    """Starts Spark with some executors of one processor each."""
    archive = os.path.join(tempfile.gettempdir(), "neardup.zip")
    shutil.copy(WHEEL, archive)
    settings.update({"spark.archives": f"{archive}#neardup_wheel", "spark.executorEnv.PYTHONPATH": "neardup_wheel"})
    return SparkSession.builder.master(f"local-cluster[{executors},1,2048]").config(map=settings).getOrCreate()


class Spark(Engine, unittest.TestCase):
    module = neardup.spark

    @classmethod
    def setUpClass(cls):
        cls.session = spark_of(2)

    @classmethod
    def tearDownClass(cls):
        cls.session.stop()

    def frame(self, table):
        return self.session.read.parquet(write(table))

    def rows(self, frame, names):
        return rows_of(frame.select(*names).toArrow(), names)

    def mapped(self, table, change):
        frame = self.session.createDataFrame(table).repartition(1).sortWithinPartitions("crawled")
        return frame.mapInArrow(lambda batches: (batch for some in batches for batch in change(pyarrow.table(some)).to_batches()), frame.schema)

    def where(self):
        return self.session.sparkContext.parallelize([0], 1).map(lambda _: where()).collect()[0]

    def test_ids(self):
        """Ids are compared by their bytes, whatever their collation, and come out with it; zeros of both signs are one id."""
        frame = self.session.createDataFrame([("a", 1, "a b c d e"), ("b", 2, "v w x y z"), ("A", 3, "a b c d e")], "url string, crawled int, body string").selectExpr("collate(url, 'UTF8_LCASE') AS url", "crawled", "body")
        how = {"text": "body", "id": "url", "order": "crawled"}
        for blocks in None, 2:
            self.assertEqual(sorted(row.url for row in neardup.spark.dedupe(frame, blocks=blocks, **how).collect()), ["a", "b"])
            self.assertEqual([row.url for row in neardup.spark.dedupe(frame, blocks=blocks, against=frame.where("crawled = 1"), **how).collect()], ["b"])
            report = neardup.spark.dedupe(frame, blocks=blocks, report=True, **how)
            self.assertEqual(sorted((row.url, row.keeper) for row in report.collect()), [("A", "a"), ("a", "a"), ("b", "b")])
            self.assertEqual(report.schema["keeper"].dataType, frame.schema["url"].dataType)
            with self.assertRaisesRegex(Exception, "several rows"):
                neardup.spark.dedupe(frame.selectExpr("CASE crawled WHEN 1 THEN 0D WHEN 2 THEN 1D ELSE -0D END AS url", "crawled", "body"), blocks=blocks, **how)

    def test_parquet(self):
        """A file that Spark writes by its defaults comes out with its types and values, as Spark reads them."""
        folder = tempfile.mkdtemp()
        self.session.sql("""SELECT id AS number, concat('w', id % 3, ' b c d e f g', id % 3) AS text, timestamp'9999-12-31 23:59:59.123456' AS far, timestamp'0001-01-01 00:00:00' AS early,
            timestamp_ntz'1700-01-01 00:00:00' AS local, date'0001-01-01' AS day, cast(1.5 AS decimal(9, 2)) AS d9, cast(1.5 AS decimal(18, 2)) AS d18, cast(-1.5 AS decimal(38, 2)) AS d38,
            array(timestamp'1500-01-01') AS list, map('k', timestamp'1500-01-01') AS map, named_struct('x', array(named_struct('t', timestamp'1500-01-01'))) AS struct, cast(1 AS tinyint) AS i8,
            x'00ff' AS bytes, interval '1' year AS years, interval '1' day AS days FROM range(6)""").coalesce(1).write.parquet(f"{folder}/in")
        [file] = map(str, pathlib.Path(folder, "in").glob("*.parquet"))
        subprocess.run([sys.executable, "-m", "neardup", "dedupe", file, "-o", f"{folder}/out.parquet"], check=True)
        was, made = self.session.read.parquet(file).where("number < 3"), self.session.read.parquet(f"{folder}/out.parquet")
        self.assertEqual(made.schema, was.schema)
        self.assertEqual(*(sorted(row.j for row in frame.selectExpr("to_json(struct(*)) AS j").collect()) for frame in (was, made)))
        self.assertTrue(pyarrow.parquet.ParquetFile(file).schema.equals(pyarrow.parquet.ParquetFile(f"{folder}/out.parquet").schema))

    def test_memory(self):
        """No frame stays cached when a result is known."""
        result = self.dedupe(texts(), blocks=2)
        self.assertTrue(self.session._jsparkSession.sharedState().cacheManager().isEmpty())
        self.assertEqual(result.count(), len(kept(server().report("texts"))))


def processes(word):
    """Returns the processes below this one whose command has a word."""
    parents, found = {}, set()
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(path.name)] = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if word in (path / "cmdline").read_text():
                found.add(int(path.name))

    def is_below(pid):
        return pid == os.getpid() or pid in parents and is_below(parents[pid])
    return sorted(filter(is_below, found))


def kill(*pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class SparkFaults(unittest.TestCase):
    """Whatever fails on the way, what goes is right, or there is an error."""

    @classmethod
    def setUpClass(cls):
        cls.session = spark_of(2, **{"spark.task.maxFailures": 1000, "spark.speculation": True, "spark.speculation.interval": "100ms", "spark.speculation.quantile": 0.2, "spark.speculation.minTaskRuntime": "200ms"})
        cls.table = texts().slice(0, 600).select(["url", "body", "crawled"])
        cls.how = {"text": "body", "id": "url", "order": "crawled"}

    @classmethod
    def tearDownClass(cls):
        cls.session.stop()

    def frame(self, change=lambda table, attempt: table):
        """Returns a frame, whose tasks change their rows, as they are in the attempt."""
        def run(batches):
            from pyspark import TaskContext
            for batch in batches:
                yield from change(pyarrow.table(batch), TaskContext.get().attemptNumber()).to_batches()
        frame = self.session.createDataFrame(self.table).repartition(4)
        return frame.mapInArrow(run, frame.schema)

    @staticmethod
    def kept_of(table):
        ordered = table.sort_by([("crawled", "ascending"), ("url", "ascending")])
        return sorted(neardup.dedupe(ordered, 0.8, text="body", id="url")["url"].to_pylist())

    def check(self, frame, spoil=lambda: None, blocks=(None, 3)):
        for some in blocks:
            kept = neardup.spark.dedupe(frame, 0.8, blocks=some, **self.how)
            spoil()
            self.assertEqual(sorted(row.url for row in kept.select("url").collect()), self.kept_of(self.table), some)
            self.assertEqual(sorted(row.url for row in kept.select("url").collect()), self.kept_of(self.table), some)

    def test_retries(self):
        """Each task that reads fails at first; then workers in Python are killed, whatever they do."""
        def fail(table, attempt):
            assert attempt > 0
            return table
        self.check(self.frame(fail))
        ended, killed = threading.Event(), []

        def kill_workers():
            while not ended.wait(1):
                if len(killed) < 40 and (workers := processes("pyspark.daemon")):
                    killed.append(random.choice(workers))
                    kill(killed[-1])
        killer = threading.Thread(target=kill_workers)
        killer.start()
        try:
            self.check(self.frame())
        finally:
            ended.set()
            killer.join()
        print(f"# {len(killed)} workers were killed", flush=True)
        self.assertTrue(killed)

    def test_speculation(self):
        """The first attempts of some tasks hang; others end in their place."""
        def hang(table, attempt):
            if attempt == 0 and "5" in table["url"][0].as_py():
                time.sleep(60)
            return table
        self.check(self.frame(hang))

    def test_lost_executors(self):
        """An executor, with what it keeps, is lost when the result is known, and when rows have numbers."""
        def lose():
            kill(processes("CoarseGrainedExecutorBackend")[0])
        self.check(self.frame(), lose)
        numbered = neardup.spark._numbered
        with unittest.mock.patch.object(neardup.spark, "_numbered", lambda ordered: (numbered(ordered), lose())[0]):
            self.check(self.frame(), blocks=[3])

    def test_other_numbers(self):
        """Rows that are computed again, of a lost executor, are others, and in another order."""
        flag = pathlib.Path(tempfile.mkdtemp(), "flag")

        def turn(table):
            return table.set_column(1, "body", table["body"].take(list(range(len(table) - 1, -1, -1)))).set_column(2, "crawled", pyarrow.compute.subtract(30, table["crawled"]))
        frame = self.frame(lambda table, attempt: turn(table) if os.path.exists(flag) else table)
        numbered = neardup.spark._numbered

        def spoil(ordered):
            made = numbered(ordered)
            flag.touch()
            kill(processes("CoarseGrainedExecutorBackend")[0])
            return made
        with unittest.mock.patch.object(neardup.spark, "_numbered", spoil), self.assertRaisesRegex(Exception, "other rows than before"):
            neardup.spark.dedupe(frame, 0.8, blocks=3, **self.how).select("url").collect()


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

    def mapped(self, table, change):
        return ray.data.from_arrow(table).map_batches(change, batch_format="pyarrow", batch_size=None)

    def where(self):
        return ray.get(ray.remote(where).remote())


class Watch(threading.Thread):
    """Records the processor seconds of the processes below this one, and the memory of the greatest of each name."""

    def __init__(self):
        super().__init__(daemon=True)
        self.samples, self.spent, self.ended = [], {}, threading.Event()

    def run(self):
        while not self.ended.wait(0.5):
            self.samples.append((time.time(), *self.sample()))

    def sample(self):
        found = {}
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                name, rest = path.read_text().split("(", 1)[1].rsplit(")", 1)
                found[int(path.parent.name)] = name, rest.split()
        below, memory = {os.getpid()}, {}
        # By their starts, so parents come first.
        for pid, (name, fields) in sorted(found.items(), key=lambda item: int(item[1][1][19])):
            if int(fields[1]) in below:
                below.add(pid)
                self.spent[pid, fields[19]] = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
                memory[name[:4]] = max(memory.get(name[:4], 0), int(fields[21]) * os.sysconf("SC_PAGE_SIZE"))
        return sum(self.spent.values()), memory

    def of(self, start, end):
        """Returns the processor seconds between two times, and the megabytes of Python's and of Java's greatest process."""
        samples = [sample for sample in self.samples if start - 1 <= sample[0] <= end + 1]
        most = (max(sample[2].get(name, 0) for sample in samples) >> 20 for name in ("pyth", "java"))
        return round(samples[-1][1] - samples[0][1], 1), *most


class Times(unittest.TestCase):
    """What Spark takes, stage by stage; TESTS=Times.stages runs it, as its name is not that of a test."""

    def stages(self):
        folder = tempfile.mkdtemp()
        for i, table in enumerate(make_texts()):
            pyarrow.parquet.write_table(table, f"{folder}/{i}.parquet")
        for decide, blocks, executors in ("signatures", None, 1), ("signatures", None, 2), ("signatures", 4, 2), ("texts", None, 2):
            print(f"# {ROWS} texts, {executors} executors, decided by {decide}, {blocks or 'as many as needed'} blocks", flush=True)
            log = tempfile.mkdtemp()
            session = spark_of(executors, **{"spark.eventLog.enabled": True, "spark.eventLog.compress": False, "spark.eventLog.rolling.enabled": False, "spark.eventLog.dir": log})
            watch, start = Watch(), time.time()
            watch.start()
            kept = neardup.spark.dedupe(session.read.parquet(folder), text="body", id="url", order="crawled", decide=decide, blocks=blocks)
            kept.write.parquet(f"{log}/kept")
            watch.ended.set()
            print("# all:", round(time.time() - start, 1), "s, processor s and MB:", *watch.of(start, time.time()), "rows kept:", pyarrow.parquet.ParquetDataset(f"{log}/kept").read(["crawled"]).num_rows, flush=True)
            session.stop()
            self.show(log, watch)

    def show(self, log, watch):
        for line in next(path for path in pathlib.Path(log).iterdir() if path.is_file()).read_text().splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerStageCompleted":
                stage = event["Stage Info"]
                totals = {total["Name"].rpartition("metrics.")[2]: total["Value"] for total in stage["Accumulables"] if "metrics." in total["Name"]}
                start, end = stage["Submission Time"] / 1000, stage["Completion Time"] / 1000
                scopes = dict.fromkeys(json.loads(part["Scope"])["name"].strip() for part in reversed(stage["RDD Info"]) if "Scope" in part)
                print("#", stage["Stage ID"], ", ".join(scopes), "|", stage["Number of Tasks"], "|", round(end - start, 1), "|", *watch.of(start, end), "|",
                      *(int(totals.get(name, 0)) >> 20 for name in ("shuffle.write.bytesWritten", "shuffle.read.remoteBytesRead", "shuffle.read.localBytesRead")), flush=True)


class DuckDb(unittest.TestCase):
    def test_functions(self):
        connection = duckdb.connect()
        neardup.duckdb.register(connection)
        connection.register("texts", texts())
        found = connection.execute("SELECT url, to_minhash(body), to_simhash(body), to_shingles(body) FROM texts ORDER BY url").fetchall()
        expected = server().ask('SELECT url, minhash_send(to_minhash(body)), simhash_send(to_simhash(body)), shingles_send(to_shingles(body)) FROM texts ORDER BY url COLLATE "C"')
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
    sys.exit(not unittest.main(testRunner=unittest.TextTestRunner(resultclass=Tap, stream=sys.stderr, verbosity=0), exit=False).result.wasSuccessful())
