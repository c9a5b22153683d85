# signatures.py: signs texts in Python with numpy: 512 bits, each one of a least hash (b-bit minwise hashing).
#
#   python3 signatures.py
#
# Reads libraries.docs and libraries.queries.  Writes their bits to libraries.bits and libraries.query_bits, which FAISS
# reads, and as hexadecimal digits for PostgreSQL.  Writes its seconds and its memory to libraries.signed.
import hashlib
import json
import os
import sys
import time

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers"))
from python import WORDS, megabytes

BITS = 512

random = numpy.random.RandomState(1)
FACTORS = random.randint(0, 1 << 31, BITS, dtype=numpy.uint32) * numpy.uint32(2) + numpy.uint32(1)
SHIFTS = random.randint(0, 1 << 32, BITS, dtype=numpy.uint32)
SPREAD = numpy.uint32(0x9E3779B1)
FIRST, SECOND, THIRD, LAST = (random.randint(0, 1 << 63, 4, dtype=numpy.uint64) << numpy.uint64(1)) | numpy.uint64(1)


class Hashes(dict):
    def __missing__(self, word):
        self[word] = value = int.from_bytes(hashlib.sha1(word.encode()).digest()[:8], "little")
        return value


hashes = Hashes()


# Returns a hash of each shingle of three words.  A shorter text is one shingle.
def shingle_hashes(text):
    words = numpy.array([hashes[word] for word in WORDS.findall(text.lower())] or [0], dtype=numpy.uint64)
    if len(words) < 3:
        words = numpy.append(words, numpy.zeros(3 - len(words), dtype=numpy.uint64))
    mixed = (words[:-2] * FIRST ^ words[1:-1]) * SECOND
    mixed = ((mixed ^ mixed >> numpy.uint64(32)) * THIRD ^ words[2:]) * LAST
    return (mixed ^ mixed >> numpy.uint64(29)) * FIRST >> numpy.uint64(32)


def sign(text):
    each = shingle_hashes(text).astype(numpy.uint32)
    least = (each[:, None] * FACTORS + SHIFTS).min(axis=0)
    return numpy.packbits(least * SPREAD >> numpy.uint32(31) == 1)


def read_texts(name):
    with open(name, encoding="utf-8") as lines:
        for line in lines:
            key, text = line.rstrip("\n").split("\t")
            yield int(key), text


def write(name, keys, bits):
    bits.tofile(name)
    with open(name + ".hex", "w") as out:
        out.writelines(f"{key}\t{row.tobytes().hex()}\n" for key, row in zip(keys, bits))


def sign_file(source, target):
    keys = []
    rows = []
    for key, text in read_texts(source):
        keys.append(key)
        rows.append(sign(text))
    return target, keys, numpy.stack(rows)


def main():
    start = time.perf_counter()
    docs = sign_file("libraries.docs", "libraries.bits")
    seconds = time.perf_counter() - start
    write(*docs)
    write(*sign_file("libraries.queries", "libraries.query_bits"))
    with open("libraries.signed", "w") as out:
        json.dump({"seconds": seconds, "memory": megabytes()}, out)


if __name__ == "__main__":
    main()
