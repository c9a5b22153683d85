"""Tests of the Python package; recipe-vectors.txt has the test vectors.  Prints the lines of TAP."""

import argparse
import importlib.metadata
import io
import pathlib
import pickle
import random
import re
import signal
import subprocess
import sys
import threading
import time
import unittest
from array import array

import neardup
from neardup import verify

try:
    import numpy
except ImportError:
    numpy = None

# Programs that run here find this package first.
HERE = pathlib.Path(neardup.__file__).resolve().parents[1]
TEXTS = [" ".join(f"w{i * 1000 + word}" for word in range(60)) for i in range(100)]
ALIKE = [f"{text} and {len(text)}" for text in TEXTS[::2]]


def recipe():
    """Returns the page of the test vectors."""
    return pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")


def text_of(cell):
    """Returns the bytes that a cell of the page shows."""
    cell = re.sub(r"\\u\{(\w+)\}", lambda match: chr(int(match[1], 16)), cell)
    return re.sub(rb"\\x(\w\w)", lambda match: bytes([int(match[1], 16)]), cell.encode())


class Python(unittest.TestCase):
    def test_signatures_of_recipe(self):
        rows = re.findall(r"^\| `(minhash|simhash) ([\d ]+?) ([a-z]+ \d+)` \| `([^`]+)` \| `(\w+)` \|$", recipe(), re.M)
        self.assertEqual(len(rows), 12)
        for kind, shape, scheme, text, symbols in rows:
            sizes = dict(zip("kb", map(int, shape.split())))
            value = getattr(neardup, kind)(text_of(text), scheme=scheme, **sizes)
            self.assertEqual(value[12 if kind == "minhash" else 8:].hex(), symbols)
            self.assertEqual(neardup.from_text(kind, neardup.to_text(value)), value)

    def test_shingles_of_recipe(self):
        rows = re.findall(r"^\| `((?:word|char|anychar|stopword|spot) [^`]+)` \| `([^`]+)` \| `([\da-f ]+)` \|$", recipe(), re.M)
        self.assertGreater(len(rows), 25)
        for scheme, text, hashes in rows:
            value = neardup.shingles(text_of(text), scheme=scheme)
            expected = {int(h, 16) - (int(h, 16) >> 63 << 64) for h in hashes.split()}
            elements = re.sub(r".*\{|\}|:\d+", "", neardup.to_text(value))
            self.assertEqual({int(e) for e in elements.split(",") if e}, expected, (scheme, text))
            self.assertEqual(neardup.from_text("shingles", neardup.to_text(value)), value)

    def test_many(self):
        for make in neardup.minhash, neardup.simhash, neardup.shingles:
            many = make(iter(TEXTS * 30), jobs=3)
            self.assertEqual(list(many[:100]), [make(text) for text in TEXTS])
            self.assertEqual((len(many), many[-1]), (3000, make(TEXTS[-1])))
            self.assertEqual(len(make([])), 0)
        for half in "\ud800", "é\udc80":
            self.assertRaises(UnicodeEncodeError, neardup.minhash, half)

    def test_null(self):
        for make in neardup.minhash, neardup.simhash, neardup.shingles:
            many = make([None, "a b c", float("nan"), ""])
            self.assertEqual(list(many), [None, make("a b c"), None, make("")])
            again = pickle.loads(pickle.dumps(many))
            self.assertEqual((list(again), again.__reduce__()), (list(many), many.__reduce__()))
            self.assertEqual(list(neardup.clusters(list(many) * 2, 1).keeper[4:6]), [neardup.NO_KEEPER, 1])
            self.assertEqual(list(neardup.Values.of(list(many))), list(many))
        self.assertEqual(list(neardup.pairs([None] * 3, 1)), [])
        self.assertEqual(str(neardup.Lexicon.learn([None, *TEXTS])), str(neardup.Lexicon.learn(TEXTS)))

    def test_arrow(self):
        """A column of texts and its signatures, both of this package; test_tables.py has those of others."""
        entry, data = array("q", [0, 3, 3, 5, 5]), "añb cd".encode()
        class Texts:
            def __arrow_c_array__(self, requested_schema=None):
                return neardup._arrow.export("U", 4, [entry, data], bytearray([0, 1, 0, 0]), children=[])
        for make in neardup.minhash, neardup.shingles:
            made = make(Texts())
            self.assertEqual(list(made), [make("añ"), None, make("b "), make("")])
            self.assertEqual(list(make(neardup._arrow.Chunks([Texts(), Texts()]), jobs=2)), list(made) * 2)
            self.assertEqual(list(neardup.Values._of_arrow(made)), list(made))
            self.assertEqual(list(neardup.Values._of_arrow(make(TEXTS))), list(make(TEXTS)))
        self.assertEqual(list(neardup.clusters(Texts(), 1).keeper), [0, neardup.NO_KEEPER, 2, neardup.NO_KEEPER])
        self.assertRaisesRegex(TypeError, "Arrow's type utf8 or binary, not struct", neardup.minhash, neardup.clusters(TEXTS, 1))
        # What has not been read is freed with its capsules.
        for _ in range(3):
            neardup.minhash(TEXTS).__arrow_c_array__()

    def test_iterables(self):
        taken = []
        def texts():
            for i in range(100_000):
                taken.append(i)
                yield TEXTS[i % 100]
                if i == 50_000:
                    raise ZeroDivisionError
        for jobs in 1, 2:
            taken.clear()
            told = []
            def progress(more):
                told.append((more, len(taken)))
            with self.assertRaises(ZeroDivisionError):
                neardup.minhash(texts(), jobs=jobs, progress=progress)
            self.assertTrue(all(read <= 1024 * (i + 4) for i, (_, read) in enumerate(told)), told)
            self.assertGreater(sum(more for more, _ in told), 40_000)

        class Again:
            """Begins anew after its end."""
            left = 3
            def __iter__(self):
                return self
            def __next__(self):
                self.left = (self.left or 4) - 1
                if not self.left:
                    raise StopIteration
                return "a b"
        self.assertEqual(len(neardup.minhash(Again())), 2)

    def test_interrupt(self):
        for work in ("neardup.minhash(t for _ in range(10**9) for t in texts)", "neardup.shingles((t for _ in range(10**9) for t in texts), jobs=2)",
                     "neardup.minhash(long)", "neardup.minhash([long])", "neardup.Lexicon.learn(t for _ in range(10**9) for t in texts)",
                     "neardup.edit_distance(*apart)", "neardup.pairs(values, .1)", "neardup.clusters(values, .1, against=values, jobs=2)"):
            # A shell may have its jobs ignore SIGINT.
            program = f"""if True:
                import neardup, random, signal
                signal.signal(signal.SIGINT, signal.default_int_handler)
                texts = [" ".join(random.choices("abcdefgh", k=200)) for _ in range(1000)]
                long = " ".join(texts) * 500
                head = neardup.minhash("a b c d")[:12]
                values = neardup.Values(1, b"".join(head + random.randbytes(64) for _ in range(100_000)), 76)
                apart = ["".join(random.choices("abcdefgh", k=10**6)) for _ in range(2)]
                print("begun", flush=True)
                try:
                    {work}
                except KeyboardInterrupt:
                    print("interrupted")"""
            with subprocess.Popen([sys.executable, "-c", program], cwd=HERE, stdout=subprocess.PIPE, text=True) as process:
                self.assertEqual(process.stdout.readline(), "begun\n")
                time.sleep(0.2)
                process.send_signal(signal.SIGINT)
                try:
                    self.assertEqual(process.communicate(timeout=60)[0], "interrupted\n", work)
                finally:
                    process.kill()

    def test_interrupt_of_submit(self):
        program = """if True:
            import neardup
            from concurrent.futures import ThreadPoolExecutor
            submit = ThreadPoolExecutor.submit
            def interrupted(*arguments):
                submit(*arguments)
                raise KeyboardInterrupt
            ThreadPoolExecutor.submit = interrupted
            texts = ["a b c", "b c d"]
            for work in (lambda: neardup.Lexicon.learn(texts), lambda: neardup.shingles(texts * 1000, jobs=2),
                         lambda: neardup.pairs(texts, .5), lambda: neardup.dedupe(texts)):
                try:
                    work()
                except KeyboardInterrupt:
                    print("interrupted")"""
        made = subprocess.run([sys.executable, "-c", program], cwd=HERE, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((made.stdout, made.stderr), ("interrupted\n" * 4, ""))

    def test_names(self):
        public = {name for name in dir(neardup) if not name.startswith("_")} - {"verify"}
        self.assertEqual(public, set(neardup.__all__))
        for name in public - {"NO_KEEPER"}:
            self.assertTrue(getattr(neardup, name).__doc__, name)

    def test_compare(self):
        x, y = (neardup.shingles(text, scheme="word 1") for text in ("a b c d", "a b c c"))
        result = neardup.compare(x, y)
        self.assertEqual((result.similarity, result.containment, result.weighted), (0.75, 0.75, 0.6))
        self.assertEqual(neardup.compare(y, x).containment, 1)
        self.assertEqual(neardup.similarity(neardup.minhash(""), neardup.minhash("")), 0)
        self.assertEqual(neardup.compare(neardup.simhash("a"), neardup.simhash("a")).distance, 0)
        self.assertEqual(neardup.edit_distance("Straße", "strasse"), 3)

    def test_verify(self):
        """What verify.py, which shares no code with the library, takes for the words and shingles of a text."""
        characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF and verify._info(chr(code)) & verify._ASSIGNED]
        letters = [c for c in characters if not "\u3400" <= c <= "\ud7a3" and c < "\U00020000"]
        marks = [c for c in letters if verify._info(c) & 3 == verify._MARK]
        texts = [f"a{c}b {c}x" for c in letters + ["\u0378", "\ue000", "\U0001fae8", "\U00010ffd"]]
        chosen = random.Random(7)
        for pool in letters, marks + letters[:300], [*map(chr, range(0x1100, 0x1200)), *map(chr, range(0xAC00, 0xAC80))], [*map(chr, range(0xE00, 0xE80)), " "], characters:
            texts += ["".join(chosen.choice(pool if chosen.random() < 0.9 else " \t,x") for _ in range(chosen.randrange(90))) for _ in range(300)]
        self.assertGreater(len(characters), 140_000)
        for text in texts:
            self.assertEqual(neardup.shingles(" ".join(verify.words(text)), scheme="word 1"), neardup.shingles(text, scheme="word 1"), ascii(text))
        for scheme in "word 2", "char 3", "anychar 2":
            for a, b in zip(texts[::50], texts[1::50]):
                other = f"{a[:40]} {b}"
                measures = {"containment": False, "multiset": False, "contained": 0}
                found = verify.similarity(a, other, argparse.Namespace(scheme=scheme, **measures), False)
                self.assertEqual(found, neardup.similarity(*(neardup.shingles(text, scheme=scheme) for text in (a, other))), (scheme, ascii(a)))

    def test_mask(self):
        self.assertEqual(neardup.mask_changing("Straße 12, 2026-11-27 um 9:30", "date, number").split(), ["Straße", ",", "um"])
        self.assertEqual(neardup.mask_changing(b"\xff x " * 99999, "ip"), "\ufffd x " * 99999)
        with self.assertRaisesRegex(neardup.NeardupError, 'cannot mask "ips": write one or more of url'):
            neardup.mask_changing("", "ips")

    def test_pairs(self):
        for values in TEXTS + ALIKE, neardup.minhash(TEXTS + ALIKE), neardup.shingles(TEXTS + ALIKE), list(neardup.simhash(TEXTS + ALIKE)):
            found = neardup.pairs(values, 0.85, jobs=2)
            self.assertEqual([(a, b) for a, b, _ in found], [(2 * i, 100 + i) for i in range(50)])
        self.assertEqual([(p.a, p.b) for p in neardup.pairs(TEXTS[:4], 1, against=TEXTS[2:4])], [(2, 0), (3, 1)])
        self.assertEqual(repr(neardup.pairs(TEXTS[:4], 1, against=TEXTS[2:4])[0]), "Pair(a=2, b=0, similarity=1.0)")
        with self.assertRaises(neardup.NeardupError) as caught:
            neardup.pairs(TEXTS + ALIKE, 0.8, memory=16)
        self.assertEqual(caught.exception.code, 4)

    def test_clusters(self):
        keeper, similarity = neardup.clusters(TEXTS + ALIKE + [""], 0.8)
        self.assertEqual(list(keeper), [*range(100), *range(0, 100, 2), neardup.NO_KEEPER])
        self.assertTrue(0.8 <= similarity[100] < 1)
        self.assertEqual(neardup.dedupe(neardup.minhash(TEXTS + ALIKE + [""]), 0.8), [*range(100), 150])
        self.assertEqual(neardup.dedupe(TEXTS + ALIKE + [""], 0.8), TEXTS + [""])
        self.assertEqual(neardup.dedupe(neardup.minhash(ALIKE + TEXTS), 0.8, against=TEXTS[10:]), [*range(5), *range(51, 60, 2)])
        self.assertEqual(neardup.dedupe(iter(ALIKE + TEXTS), 0.8, against=iter(TEXTS[10:])), ALIKE[:5] + TEXTS[1:10:2])
        self.assertEqual(neardup.dedupe([], 0.8), [])

    def test_rows(self):
        rows = [{"id": f"r{i}", "body": text, "more": i} for i, text in enumerate([*TEXTS, *ALIKE, None, ""])]
        self.assertEqual(neardup.dedupe(rows, text="body"), rows[:100] + rows[150:])
        self.assertEqual(neardup.dedupe(tuple(rows), text="body", against=rows[:100]), rows[150:])
        told = []
        report = neardup.dedupe(iter(rows), text="body", id="id", report=True, against=[{"id": "x", "body": TEXTS[7]}], progress=told.append)
        self.assertEqual(sum(told), 153)
        self.assertEqual({key: report[100][key] for key in ("id", "more", "keeper", "size", "against")},
                         {"id": "r100", "more": 100, "keeper": "r0", "size": 2, "against": None})
        self.assertEqual([(row["keeper"], row["similarity"], row["size"], row["against"]) for row in (report[1], report[7], report[150])],
                         [("r1", 1, 1, None), (None, 1, None, "x"), (None, 0, None, None)])
        self.assertEqual([row["keeper"] for row in neardup.dedupe(rows[:2] * 2, text="body", report=True)], [0, 1, 0, 1])
        short = [{"body": " ".join(text.split()[5:25])} for text in TEXTS]
        self.assertEqual(neardup.dedupe(rows[:4] + short[:4], 1, text="body", containment=True), rows[:4])
        for refused, why in ((("in.parquet",), "read a file first"), ((pathlib.Path("in.parquet"),), "read a file first"), ((b"a",), "values in a list"),
                             (({"body": TEXTS},), "pyarrow.table"), ((rows,), "the columns are 'id', 'body'"), ((7,), "put them in a list"), (({"a"},), "put them in a list")):
            self.assertRaisesRegex(TypeError, why, neardup.dedupe, *refused)
        self.assertRaisesRegex(ValueError, "no column 'text': the columns are 'id', 'body', 'more'", neardup.dedupe, rows, text="text")
        self.assertRaisesRegex(ValueError, "a column 'size' already", neardup.dedupe, [{"body": "", "size": 1}], text="body", report=True)
        self.assertEqual(neardup.dedupe([], text="body"), [])
        self.assertEqual(neardup.dedupe({1: "a", 2: "a"}.values()), ["a"])
        self.assertEqual(neardup.dedupe(rows[:2] * 2, text="body", shingles=True), rows[:2])
        self.assertRaisesRegex(TypeError, "of tables", neardup.dedupe, TEXTS, report=True)
        for call in neardup.Lexicon.learn, neardup.pairs, neardup.clusters:
            for some in "a text", pathlib.Path("in.parquet"), {"body": TEXTS}:
                self.assertRaises(TypeError, call, some, 0.8)

    def test_held_out(self):
        records = TEXTS + [" ".join(text.split()[5:25]) for text in ALIKE]
        questions = [" ".join(text.split()[:30]) for text in TEXTS[::2]]
        for multiset in False, True:
            how = {"against": neardup.shingles(questions), "containment": True, "multiset": multiset}
            keeper = neardup.clusters(neardup.shingles(records), 1, **how).keeper
            self.assertEqual([(i, k) for i, k in enumerate(keeper) if k != neardup.NO_KEEPER],
                             [(2 * i, i) for i in range(50)] + [(100 + i, i) for i in range(50)])
            self.assertEqual([tuple(pair)[:2] for pair in neardup.pairs(neardup.shingles(records), 1, **how)],
                             [(i, k) for i, k in enumerate(keeper) if k != neardup.NO_KEEPER])
            self.assertEqual(neardup.dedupe(neardup.shingles(records), 1, **how), [*range(1, 100, 2)])
            self.assertEqual(neardup.dedupe(neardup.shingles(records[::2]), 1, **how), [])
            how["against"] = neardup.shingles([])
            self.assertEqual(neardup.dedupe(neardup.shingles(TEXTS), 1, **how), [*range(100)])

    @unittest.skipUnless(numpy, "no numpy")
    def test_arrays(self):
        values = neardup.minhash(TEXTS + ALIKE)
        rows = numpy.asarray(values)
        self.assertEqual((rows.shape, rows.dtype), ((150, 76), numpy.uint8))
        self.assertEqual(rows[3].tobytes(), values[3])
        frozen = rows.copy()
        frozen.flags.writeable = False
        for array in rows, frozen, numpy.asfortranarray(rows), numpy.repeat(rows, 2, axis=0)[::2]:
            found = numpy.asarray(neardup.pairs(array, 0.8))
            self.assertEqual((found["a"] * 1.0).sum(), 2450)
        self.assertTrue(numpy.shares_memory(rows, numpy.asarray(neardup.Values.of(rows))))
        self.assertEqual(neardup.similarity(rows[0], rows[1]), neardup.similarity(values[0], values[1]))
        self.assertEqual(neardup.to_text(rows[3]), neardup.to_text(values[3]))
        self.assertEqual(neardup.dedupe(list(rows), 0.8), neardup.dedupe(values, 0.8))
        copied = b"".join(neardup.copy_binary(range(50), values[:50]))
        for array in rows[:50], numpy.asfortranarray(rows[:50]):
            self.assertEqual(b"".join(neardup.copy_binary(numpy.arange(50), array)), copied)
        self.assertRaises(TypeError, numpy.asarray, neardup.shingles(TEXTS))

    def test_processes(self):
        lexicon = neardup.Lexicon.learn(TEXTS, "word 1", 1000, 0.5)
        for values in neardup.minhash(TEXTS, lexicon=lexicon), neardup.shingles(TEXTS), neardup.simhash([]):
            self.assertEqual(list(pickle.loads(pickle.dumps(values))), list(values))
        self.assertEqual(str(pickle.loads(pickle.dumps(lexicon))), str(lexicon))
        for result in (neardup.pairs(TEXTS + ALIKE, 0.8), neardup.clusters(TEXTS, 0.8), neardup.compare(neardup.simhash("a"), neardup.simhash("b"))):
            self.assertEqual(pickle.loads(pickle.dumps(result)), result)
        with self.assertRaises(neardup.NeardupError) as refused:
            neardup.minhash("", k=1)
        with self.assertRaises(neardup.NeardupError):
            neardup.dedupe(["a"], k=0)
        again = pickle.loads(pickle.dumps(refused.exception))
        self.assertEqual((str(again), again.code), (str(refused.exception), 1))

    def test_common(self):
        """What many texts have is left out, and a text that has nothing else is not."""
        form = " ".join(f"form{i}" for i in range(90))
        rows = [{"site": i % 3, "text": f"{form} topic{i % 30} x{i % 30} y{i % 30}"} for i in range(90)] + [{"site": 0, "text": form}] * 2
        texts = [row["text"] for row in rows]
        self.assertEqual(len(neardup.dedupe(texts)), 1)
        for kept in neardup.dedupe(texts, common=0.1), neardup.dedupe(rows, text="text", common=0.1, source="site"), neardup.dedupe(texts, common=0.1, shingles=True):
            self.assertEqual(len(kept), 31)
        lexicon = neardup.Lexicon.common(texts, 0.1)
        self.assertEqual((str(lexicon)[:12], str(lexicon).count(":"), str(lexicon).count(":0")), ("1/word 3/31/", 88, 88))
        # 20 texts of one source, of a hundred.
        few = [f"{form} a{i} b{i} c{i}" for i in range(20)] + [f"a{i} b{i} c{i} d{i}" for i in range(80)]
        self.assertEqual(str(neardup.Lexicon.common(few, 0.5)).count(":"), 0)
        self.assertEqual(str(neardup.Lexicon.common(few, 0.5, ["x"] * 20 + [None] * 80)).count(":"), 88)
        self.assertEqual(neardup.dedupe(few, common=0.5), neardup.dedupe(few))
        for how in {"common": 0}, {"common": 1.5}, {"common": 0.1, "lexicon": lexicon}, {"common": 0.1, "scheme": "spot 1 2"}, {"common": 0.1, "multiset": True}:
            self.assertRaises(ValueError, neardup.dedupe, texts, **how)
        self.assertRaises(ValueError, neardup.dedupe, neardup.minhash(texts), common=0.1)
        self.assertRaises(ValueError, neardup.dedupe, rows, text="text", source="site")

    def test_texts_of_lexicon(self):
        def texts(last):
            for text in TEXTS[:3]:
                neardup.minhash(text)
                yield text
            yield last

        self.assertTrue(str(neardup.Lexicon.learn(texts("end"))).startswith("1/word 1/4/{"))
        with self.assertRaises(TypeError):
            neardup.Lexicon.learn(texts(7))
        with self.assertRaises(ZeroDivisionError):
            neardup.Lexicon.learn(text for text in TEXTS if 1 / 0)

    def test_lexicon(self):
        lexicon = neardup.Lexicon.learn(TEXTS + ALIKE, "word 1", 1000, 0.5)
        again = neardup.Lexicon(bytes(lexicon))
        self.assertEqual(str(again), str(neardup.Lexicon(str(lexicon))))
        self.assertTrue(str(lexicon).startswith("1/word 1/150/{"))
        value = neardup.minhash(TEXTS[0], lexicon=lexicon)
        self.assertEqual(neardup.minhash(TEXTS, lexicon=again)[0], value)
        self.assertNotEqual(neardup.minhash(TEXTS[0], scheme="word 1"), value)
        # Of a hundred texts that begin alike, the rest weighs, and the beginning nothing.
        value = neardup.shingles("of the w0", lexicon=neardup.Lexicon.learn("of the " + text for text in TEXTS))
        self.assertEqual(neardup.to_text(value).count(":"), 1)

    def test_copy(self):
        values = neardup.minhash(TEXTS)
        for ids, keys in (range(-1, 99), [i.to_bytes(8, "big", signed=True) for i in range(-1, 99)]), (TEXTS, map(str.encode, TEXTS)):
            data = b"".join(neardup.copy_binary(ids, values))
            self.assertEqual(list(neardup.read_binary(io.BytesIO(data))), list(zip(keys, values)))
            self.assertRaises(ValueError, list, neardup.read_binary(io.BytesIO(data[:-1])))
        self.assertRaises(ValueError, list, neardup.copy_binary(range(5), values))
        data = b"".join(neardup.copy_binary([1], [None]))
        self.assertEqual(list(neardup.read_binary(io.BytesIO(data))), [(bytes(7) + b"\1", None)])
        self.assertRaises(TypeError, list, neardup.copy_binary([1], [2]))

    def test_errors(self):
        for code, call in (
                (1, lambda: neardup.minhash("", k=15)), (1, lambda: neardup.minhash("", k=2**32 + 512)),
                (1, lambda: neardup.Lexicon.learn(TEXTS, entries=2**32 + 1)), (1, lambda: neardup.Lexicon.learn(TEXTS, memory=-1)), (1, lambda: neardup.shingles("", scheme="nonsense")),
                (1, lambda: neardup.minhash(TEXTS, jobs=-1)), (1, lambda: neardup.pairs(TEXTS, 1, jobs=2**32 + 1)),
                *((1, lambda jobs=jobs, made=made: made(TEXTS, jobs=jobs)) for jobs in (0, 1025, 10**9) for made in (neardup.minhash, neardup.shingles, neardup.dedupe, lambda texts, jobs: neardup.clusters(texts, 1, jobs=jobs))),
                (1, lambda: neardup.minhash("a", scheme="word 1\0x")), (1, lambda: neardup.Lexicon.learn(TEXTS, "word 1\0x")), (1, lambda: neardup.mask_changing("a", "ip\0x")),
                (2, lambda: neardup.from_text("minhash", neardup.to_text(neardup.minhash("a")) + "\0x")), (2, lambda: neardup.Lexicon(str(neardup.Lexicon.learn(TEXTS)) + "\0x")),
                (1, lambda: neardup.clusters(TEXTS, 1, memory=-1)),
                (1, lambda: list(neardup.copy_binary([2**63], [b""]))), (1, lambda: neardup.from_text("nothing", "")),
                (1, lambda: neardup.pairs(TEXTS, 0)), (2, lambda: neardup.to_text(b"\1\1\0")), (2, lambda: neardup.to_text(b"")),
                (2, lambda: neardup.Lexicon("nonsense")), (1, lambda: neardup.Lexicon.learn([])),
                (3, lambda: neardup.similarity(neardup.minhash(""), neardup.minhash("", k=64)))):
            with self.assertRaises(neardup.NeardupError) as caught:
                call()
            self.assertEqual((caught.exception.code, str(caught.exception) > ""), (code, True))
        self.assertRaises(TypeError, neardup.minhash, [7])
        for texts in 7, None:
            self.assertRaisesRegex(TypeError, "texts are in a list or a column, not in", neardup.minhash, texts)
        self.assertRaisesRegex(TypeError, "with text=: the columns are 'id', 'text'", neardup.dedupe, [{"id": 1, "text": ""}], 0.8)
        for call in (lambda: neardup.similarity("a", "b"), lambda: neardup.pairs([b"", "a"], 1),
                     lambda: neardup.to_text([1, 2]), lambda: list(neardup.copy_binary([1], ["a"]))):
            self.assertRaisesRegex(TypeError, "a value is bytes, such as minhash", call)

    def test_threads(self):
        found = []
        threads = [threading.Thread(target=lambda: found.append(neardup.minhash(TEXTS)[7])) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [neardup.minhash(TEXTS[7])] * 8)

    def test_wheel(self):
        """What pip installs has the licences of what is in it."""
        try:
            names = [file.name for file in importlib.metadata.files("neardup")]
        except importlib.metadata.PackageNotFoundError:
            self.skipTest("pip did not install the package")
        self.assertLessEqual({"LICENSE", "LICENSE.utf8proc", "LICENSE.xxHash", "py.typed"}, set(names))


class Tap(unittest.TextTestResult):
    def addSuccess(self, test):
        print("ok -", test.id())

    def addSkip(self, test, reason):
        print("ok -", test.id(), "# skip", reason)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        print("not ok -", test.id())

    addError = addFailure


if __name__ == "__main__":
    result = unittest.TextTestRunner(resultclass=Tap, stream=sys.stderr, verbosity=0).run(unittest.defaultTestLoader.loadTestsFromTestCase(Python))
    sys.exit(not result.wasSuccessful())
