"""Deduplicates one file of texts with neardup and with other tools, a process each, and compares what goes.

    tools.py TEXTS NEARDUP [TOOL ...]

TEXTS is a TSV file with a line of names, id and text, ids from 1; NEARDUP is the command.  All compare sets of five words in a
row, at a resemblance of .8, in one thread, and keep the first record of similar ones.  The truth are the pairs of exact sets.
Found: of these pairs, the share of which a record goes.  Wrong: of the records that go, the share that no other resembles.
Prints a row of TSV for each tool: tool, settings, seconds of processor, MB, found, wrong; or why it was not run.
"""

import importlib
import os
import subprocess
import sys
from collections import defaultdict

WORDS, THRESHOLD = 5, 0.8
WIDTH, BANDS = 128, 16


def texts():
    with open(sys.argv[1], encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            yield line.rstrip("\n").split("\t")[1]


def shingles(text):
    words = text.split()
    return {" ".join(words[i:i + WORDS]) for i in range(max(len(words) - WORDS + 1, 1))}


def datasketch():
    """128 permutations, MinHashLSH(threshold=.8), candidates not checked"""
    from datasketch import MinHash, MinHashLSH
    index = MinHashLSH(threshold=THRESHOLD, num_perm=WIDTH)
    for i, text in enumerate(texts()):
        sketch = MinHash(num_perm=WIDTH)
        sketch.update_batch([shingle.encode() for shingle in shingles(text)])
        if index.query(sketch):
            yield i
        else:
            index.insert(i, sketch, check_duplication=False)


def rensa():
    """RMinHash of 128, 16 bands, candidates checked by their sketches"""
    from rensa import RMinHash, RMinHashLSH
    index, kept = RMinHashLSH(threshold=THRESHOLD, num_perm=WIDTH, num_bands=BANDS), {}
    for i, text in enumerate(texts()):
        sketch = RMinHash(num_perm=WIDTH, seed=42)
        sketch.update(list(shingles(text)))
        if any(sketch.jaccard(kept[key]) >= THRESHOLD for key in index.query(sketch)):
            yield i
        else:
            index.insert(i, sketch)
            kept[i] = sketch


def gaoya():
    """MinHashStringIndex, 32 bits, 16 bands of 8, which checks candidates by their sketches"""
    from gaoya.minhash import MinHashStringIndex
    index = MinHashStringIndex(32, THRESHOLD, BANDS, WIDTH // BANDS, None, "word", False, (WORDS, WORDS), id_container="smallvec")
    for i, text in enumerate(texts()):
        if index.query(text):
            yield i
        else:
            index.insert_document(i, text)


def neardup():
    """the defaults: 512 bits, exactly, at the estimate"""
    yield from _of_command()


def neardup_texts():
    """the same, decided by the texts"""
    yield from _of_command("--decide", "texts")


def _of_command(*more):
    command, found = sys.argv[2], 0
    if not more and "--decide" in subprocess.run([command, "--help"], capture_output=True, text=True, check=True).stdout:
        more = "--decide", "signatures"
    stays = subprocess.run([command, "dedupe", "-j1", "-s", f"word {WORDS}", "-t", str(THRESHOLD), *more, sys.argv[1]],
                           stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[1:]
    ids = {int(line.partition("\t")[0]) for line in stays}
    yield from (i for i in range(sum(1 for _ in texts())) if i + 1 not in ids)


TOOLS = {tool.__name__: tool for tool in (neardup, neardup_texts, rensa, gaoya, datasketch)}


def truth():
    lines = subprocess.run([sys.argv[2], "pairs", "--shingles", "-s", f"word {WORDS}", "-t", str(THRESHOLD), sys.argv[1]],
                           stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    groups = defaultdict(list)
    for line in lines:
        a, b = (int(number) - 1 for number in line.split("\t")[:2])
        groups[a].append(b)
        groups[b].append(a)
    return groups


def measure(tool, similar):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        with os.fdopen(write, "w") as out:
            out.writelines(f"{i}\n" for i in TOOLS[tool]())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as lines:
        goes = set(map(int, lines))
    _, status, used = os.wait4(child, 0)
    if status:
        raise RuntimeError("it failed")
    pairs = [(a, b) for a, others in similar.items() for b in others if a < b]
    found = sum(a in goes or b in goes for a, b in pairs) / max(len(pairs), 1)
    wrong = sum(i not in similar for i in goes) / max(len(goes), 1)
    return f"{used.ru_utime + used.ru_stime:.1f}", str(used.ru_maxrss // 1024), f"{found:.1%}", f"{wrong:.1%}"


def main():
    similar = truth()
    for tool in sys.argv[3:] or TOOLS:
        try:
            if "neardup" not in tool:
                importlib.import_module(tool)
            figures = measure(tool, similar)
        except (ImportError, RuntimeError) as error:
            figures = (f"not run: {error}",)
        print(tool, TOOLS[tool].__doc__, *figures, sep="\t", flush=True)


if __name__ == "__main__":
    main()
