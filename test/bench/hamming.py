# hamming.py: binary indexes of FAISS on what hamming.c writes, in one thread.
#
#   python3 hamming.py FOLDER NAME-BITS...
#
# A flat index and a multi-hash as MIH has it find all rows, which is checked; IVF with 16 of its lists finds
# the share that is told.  Prints medians over the queries of processor time in microseconds, the call from Python
# included.  A method that takes long stops, but not before FEWEST queries; more than FLIPS flips are left out.
import math
import sys
import time

import faiss
import numpy

FEWEST = 5
LONG = 0.3
FLIPS = 3


def load(folder, name, ending, words):
    return numpy.fromfile(f"{folder}/{name}.{ending}", dtype=numpy.uint8).reshape(-1, words * 8)


def make_ivf(rows, bits):
    lists = max(16, int(len(rows) ** 0.5))
    index = faiss.IndexBinaryIVF(faiss.IndexBinaryFlat(bits), bits, lists)
    index.train(rows[:: max(1, len(rows) // (64 * lists))])
    index.nprobe = 16
    return index


# The hashes have about as many bits as make a bucket of each row.
def make_multihash(rows, bits):
    width = int(math.log2(len(rows)))
    return faiss.IndexBinaryMultiHash(bits, bits // width, width)


KINDS = {
    "flat": lambda rows, bits: faiss.IndexBinaryFlat(bits),
    "MultiHash": make_multihash,
    "IVF": make_ivf,
}


# Returns the median microseconds, and how many rows each query found.
def times(index, queries, radius):
    taken, found = [], []
    begun = time.process_time()
    for query in queries:
        if len(taken) >= FEWEST and time.process_time() > begun + LONG:
            break
        start = time.process_time()
        limits, _, _ = index.range_search(query[None], radius + 1)
        taken.append((time.process_time() - start) * 1e6)
        found.append(int(limits[1]))
    return sorted(taken)[len(taken) // 2], found


def race(name, radius, indexes, queries, matches):
    cells, truth = [], None
    for kind, index in indexes.items():
        if kind == "MultiHash":
            index.nflip = radius // index.nhash
            if index.nflip > FLIPS:
                cells.append("–")
                continue
        median, found = times(index, queries, radius)
        cells.append(f"{median:.{int(median < 100)}f}")
        if kind == "flat":
            truth = found
            if len(found) == len(queries) and sum(found) != matches:
                sys.exit(f"{name} within {radius}: FAISS finds {sum(found)} rows, hamming.c {matches}")
        elif kind == "MultiHash" and any(x != y for x, y in zip(found, truth)):
            sys.exit(f"{name} within {radius}: MultiHash misses rows")
        elif kind == "IVF":
            all_of = sum(truth[: len(found)])
            cells.append(f"{sum(found) / all_of:.2f}" if all_of else "–")
    print(f"| {name.replace('-', ' | ')} | {radius} |", " | ".join(cells), "|", flush=True)


def main():
    faiss.omp_set_num_threads(1)
    print(f"FAISS {faiss.__version__}:\n\n| data | bits | radius | flat | MultiHash | IVF | of the rows |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    builds = []
    for name in sys.argv[2:]:
        words = (int(name.split("-")[1]) + 63) // 64
        rows, queries = (load(sys.argv[1], name, ending, words) for ending in ("rows", "queries"))
        indexes, cells = {}, []
        for kind, make in KINDS.items():
            start = time.process_time()
            indexes[kind] = make(rows, words * 64)
            indexes[kind].add(rows)
            size = "" if kind == "MultiHash" else f", {len(faiss.serialize_index_binary(indexes[kind])) / 1e6:.1f} MB"
            cells.append(f"{(time.process_time() - start) * 1e3:.0f} ms{size}")
        with open(f"{sys.argv[1]}/{name}.found") as lines:
            for line in lines:
                radius, matches = map(int, line.split())
                race(name, radius, indexes, queries, matches)
        builds.append(f"| {name.replace('-', ' | ')} | " + " | ".join(cells) + " |")
    print("\n| data | bits | flat | MultiHash | IVF |\n|---|---:|---:|---:|---:|", *builds, sep="\n")


main()
