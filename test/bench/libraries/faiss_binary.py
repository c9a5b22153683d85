# faiss_binary.py: binary indexes of FAISS on the bits that signatures.py makes.
#
#   python3 faiss_binary.py KIND title
#   python3 faiss_binary.py KIND SECONDS    the seconds for searches
#
# The output is lines as python.py of BENCH=peers writes them.
import json
import os
import sys
import time

import faiss
import numpy

from signatures import BITS, megabytes, read_texts, sign
from python import put

RADIUS = 51  # the greatest distance at which the estimate is 0.8
NEAREST = 10
BATCH = 1000


def make_ivf(rows):
    lists = max(16, int(len(rows) ** 0.5))
    index = faiss.IndexBinaryIVF(faiss.IndexBinaryFlat(BITS), BITS, lists)
    index.train(rows[:: max(1, len(rows) // (64 * lists))])
    index.nprobe = 16
    return index


def make_hash(rows):
    index = faiss.IndexBinaryHash(BITS, 16)
    index.nflip = 2
    return index


def make_multihash(rows):
    index = faiss.IndexBinaryMultiHash(BITS, 16, 20)
    index.nflip = 1
    return index


KINDS = {
    "flat": ("FAISS, flat", lambda rows: faiss.IndexBinaryFlat(BITS)),
    "ivf": ("FAISS, IVF: √rows lists, 16 probes", make_ivf),
    "hash": ("FAISS, hash: 16 bits, 2 flips", make_hash),
    "multihash": ("FAISS, 16 hashes: 20 bits, 1 flip", make_multihash),
    "hnsw": ("FAISS, HNSW: the ten nearest", lambda rows: faiss.IndexBinaryHNSW(BITS)),
}


# Returns the places of the rows within the radius of each query, one array after another, and where each begins.
def within(index, queries):
    if isinstance(index, faiss.IndexBinaryHNSW):
        distances, places = index.search(queries, NEAREST)
        near = (distances <= RADIUS) & (places >= 0)
        return numpy.concatenate([[0], near.sum(axis=1).cumsum()]), places[near]
    starts, _, places = index.range_search(queries, RADIUS + 1)
    return starts.astype(numpy.int64), places


def search(peer, index, keys, queries, seconds):
    end = time.perf_counter() + seconds
    for number, text in queries:
        if number > 10 and time.perf_counter() > end:
            break
        start = time.perf_counter()
        bits = sign(text)[None]
        signed = time.perf_counter()
        found = within(index, bits)[1]
        now = time.perf_counter()
        put("timed", peer, number, (now - start) * 1e3)
        put("signed search timed", peer, number, (now - signed) * 1e3)
        for i in found:
            put("found", peer, number, keys[i])


def nearest(peer, index, keys, queries, seconds):
    end = time.perf_counter() + seconds
    for number, text in queries:
        if number > 10 and time.perf_counter() > end:
            break
        start = time.perf_counter()
        found = index.search(sign(text)[None], NEAREST)[1][0]
        put("nearest timed", peer, number, (time.perf_counter() - start) * 1e3)
        for i in found[found >= 0]:
            put("nearest found", peer, number, keys[i])


# Searches for the rows in batches.  If the time is over, the seconds for all rows are those of the ones that were
# searched for, in proportion.
def all_pairs(peer, index, keys, rows, seconds):
    start = time.perf_counter()
    pairs = []
    done = 0
    while done < len(rows) and time.perf_counter() < start + seconds:
        starts, places = within(index, rows[done : done + BATCH])
        first = done + numpy.repeat(numpy.arange(len(starts) - 1), numpy.diff(starts))
        # HNSW may find a row only from the other one.
        pairs += {(min(a, b), max(a, b)) for a, b in zip(first.tolist(), places.tolist()) if a != b}
        done = min(done + BATCH, len(rows))
    total = (time.perf_counter() - start) * len(rows) / done
    put("measure", peer, "pairs" if done == len(rows) else "pairs by searches", "s", total)
    if done == len(rows):
        for a, b in set(pairs):
            put("pair", peer, *sorted((keys[a], keys[b])))


# Adds rows in batches until the time is over.  Returns how many.
def add(index, rows, seconds):
    end = time.perf_counter() + seconds
    done = 0
    while done < len(rows) and time.perf_counter() < end:
        index.add(rows[done : done + 10 * BATCH])
        done = min(done + 10 * BATCH, len(rows))
    return done


def disk_megabytes(index):
    faiss.write_index_binary(index, "libraries.faiss")
    size = os.path.getsize("libraries.faiss")
    os.remove("libraries.faiss")
    return size / 1e6


def main():
    kind = sys.argv[1]
    title, make = KINDS[kind]
    if sys.argv[2] == "title":
        print(title)
        return
    peer, seconds = "faiss_" + kind, float(sys.argv[2])
    keys = [key for key, _ in read_texts("libraries.docs")]
    queries = list(read_texts("libraries.queries"))
    rows = numpy.fromfile("libraries.bits", dtype=numpy.uint8).reshape(-1, BITS // 8)
    with open("libraries.signed") as file:
        signed = json.load(file)
    start = time.perf_counter()
    index = make(rows)
    done = add(index, rows, max(60, 6 * seconds))
    indexing = time.perf_counter() - start
    put("measure", peer, "sign", "s", signed["seconds"])
    if done < len(rows):
        # The later rows take longer than the first ones.
        put("measure", peer, "index by part", "s", indexing * len(rows) / done)
        return
    put("measure", peer, "index", "s", indexing)
    put("measure", peer, "build", "s", signed["seconds"] + indexing)
    search(peer, index, keys, queries, seconds)
    nearest(peer, index, keys, queries, seconds)
    all_pairs(peer, index, keys, rows, max(seconds, 60 if len(rows) <= 20000 else 20))
    put("measure", peer, "memory", "MB", max(signed["memory"], megabytes()))
    put("measure", peer, "size", "MB", disk_megabytes(index))


main()
