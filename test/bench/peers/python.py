# python.py: MinHash and LSH in Python with numpy, as datasketch does it.
#
#   python3 python.py [BANDSxROWS...] < TEXTS > RESULTS
#
# With shapes of bands, it only searches, with each of them, as "python BANDS × ROWS".
# A line of TEXTS is a JSON array: ["doc" or "query", id, text].  All docs come first.
# A line of RESULTS is "measure <tab> peer <tab> name <tab> unit <tab> value", "timed <tab> peer <tab> query <tab> ms",
# "found <tab> peer <tab> query <tab> id", or "pair <tab> peer <tab> id <tab> id".
import hashlib
import json
import re
import resource
import sys
import time

import numpy

PERMUTATIONS = 128
THRESHOLD = 0.8
PRIME = numpy.uint64((1 << 61) - 1)
LOW = numpy.uint64((1 << 32) - 1)
WORDS = re.compile(r"\w+")

random = numpy.random.RandomState(1)
A = random.randint(1, 1 << 61, PERMUTATIONS, dtype=numpy.uint64)[:, None]
B = random.randint(0, 1 << 61, PERMUTATIONS, dtype=numpy.uint64)[:, None]


def shingles(text):
    words = WORDS.findall(text.lower())
    return {" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))} if words else set()


def signature(text):
    hashes = [int.from_bytes(hashlib.sha1(s.encode()).digest()[:4], "little") for s in shingles(text)]
    if not hashes:
        return None
    least = numpy.full(PERMUTATIONS, LOW)
    # In parts, so that a long text takes no more memory than a short one.
    for start in range(0, len(hashes), 4096):
        part = numpy.array(hashes[start : start + 4096], dtype=numpy.uint64)
        least = numpy.minimum(least, ((A * part + B) % PRIME & LOW).min(axis=1))
    return least.astype(numpy.uint32)


# The bands for which the areas of wrong candidates and of lost pairs have the least sum.
def best_bands(threshold, permutations):
    below = numpy.linspace(0, threshold, 200)
    above = numpy.linspace(threshold, 1, 200)

    def cost(bands, rows):
        return threshold * (1 - (1 - below**rows) ** bands).mean() + (1 - threshold) * ((1 - above**rows) ** bands).mean()

    return min(
        (cost(b, r), b, r) for b in range(1, permutations + 1) for r in range(1, permutations // b + 1)
    )[1:]


class Bands:
    def __init__(self, bands, rows):
        self.cuts = [(i * rows, (i + 1) * rows) for i in range(bands)]
        self.tables = [{} for _ in self.cuts]

    def keys(self, sig):
        return (sig[start:end].tobytes() for start, end in self.cuts)

    def insert(self, key, sig):
        for table, part in zip(self.tables, self.keys(sig)):
            table.setdefault(part, []).append(key)

    def search(self, sig):
        found = set()
        for table, part in zip(self.tables, self.keys(sig)):
            found.update(table.get(part, ()))
        return found


def put(*fields):
    print(*fields, sep="\t")


def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def all_pairs(peer, lsh, signatures, check):
    start = time.perf_counter()
    pairs = [(a, b) for b, sig in signatures.items() for a in lsh.search(sig) if a < b and check(signatures[a], sig)]
    put("measure", peer, "pairs", "s", time.perf_counter() - start)
    for a, b in pairs:
        put("pair", peer, a, b)


def search(peer, lsh, check, signatures, queries):
    for number, text in queries:
        start = time.perf_counter()
        sig = signature(text)
        found = [] if sig is None else [i for i in lsh.search(sig) if check(signatures[i], sig)]
        put("timed", peer, number, (time.perf_counter() - start) * 1e3)
        for i in found:
            put("found", peer, number, i)


def bands_of(shape, signatures):
    lsh = Bands(*shape)
    for key, sig in signatures.items():
        lsh.insert(key, sig)
    return lsh


def measure(peer, shape, check, signatures, signing, queries):
    start = time.perf_counter()
    lsh = bands_of(shape, signatures)
    indexing = time.perf_counter() - start
    build = signing + indexing
    put("measure", peer, "sign", "s", signing)
    put("measure", peer, "index", "s", indexing)
    put("measure", peer, "build", "s", build)
    put("measure", peer, "insert", "µs", build / len(signatures) * 1e6)
    search(peer, lsh, check, signatures, queries)
    all_pairs(peer, lsh, signatures, check)
    put("measure", peer, "memory", "MB", megabytes())


def estimated(a, b):
    return (a == b).mean() >= THRESHOLD


def main():
    before = megabytes()
    start = time.perf_counter()
    signatures = {}
    queries = []
    for line in sys.stdin:
        kind, key, text = json.loads(line)
        if kind == "query":
            queries.append((key, text))
            continue
        sig = signature(text)
        if sig is not None:
            signatures[key] = sig
    signing = time.perf_counter() - start
    for name in sys.argv[1:]:
        bands, rows = map(int, name.split("x"))
        search(f"python {bands} × {rows}", bands_of((bands, rows), signatures), estimated, signatures, queries)
    if len(sys.argv) > 1:
        return
    measure("python", best_bands(THRESHOLD, PERMUTATIONS), lambda a, b: True, signatures, signing, queries)
    put("measure", "python", "size", "MB", megabytes() - before)
    measure("python_checked", (13, 7), estimated, signatures, signing, queries)


if __name__ == "__main__":
    main()
