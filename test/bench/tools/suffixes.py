"""suffixes.py NEARDUP MEGABYTES [COPIES...]: what near-copies and then passages take from texts of this machine, and what a suffix array does.

The array is of bytes (Lee et al. 2022), which have no words: by pydivsufsort it shows each run of as many bytes as 50 words
have, on average, that stands twice; all but the first go.  Then the texts with altered copies, COPIES in all, an eighth of whose
words are changed.
"""

import json
import os
import re
import resource
import subprocess
import sys

RUN = 50
WORD = re.compile(r"[^\W_]+")


def gather(most):
    """Writes texts of Debian's packages as records."""
    with open("machine.jsonl", "w", encoding="utf-8") as out:
        for folder in "/usr/include", "/usr/share/perl", "/usr/share/doc", "/usr/lib/python3", "/usr/lib/python3.11", "/usr/share":
            for path in sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names):
                try:
                    if os.path.islink(path) or not 50 < os.path.getsize(path) < 2e6:
                        continue
                    with open(path, encoding="utf-8") as file:
                        text = file.read()
                except (OSError, UnicodeDecodeError):
                    continue
                if "\0" not in text and most > 0:
                    out.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")
                    most -= len(text)


def cost_of(usage):
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def row(name, size, seconds, megabytes, removed, halves):
    print(f"| {name} | {seconds:.1f} | {size / 1e6 / seconds:.0f} | {megabytes:.0f} | {removed / 1e6:.1f} | {halves:,} |", flush=True)


def marked(texts):
    """Returns the bytes of the words that are marked, and how many marks begin or end within a word."""
    removed, halves, ends = 0, 0, {}
    with open("rows", encoding="utf-8") as file:
        rows = file.read().splitlines()
    for cells in (line.split("\t") for line in rows):
        if cells[1] != "\\N":
            number, start, end = int(cells[0]), int(cells[1]) - 1, int(cells[2])
            text = texts[number - 1]
            halves += sum(bool(WORD.fullmatch(text[max(place - 1, 0):place + 1])) and 0 < place < len(text) for place in (start, end))
            start = max(start, ends.get(number, 0))
            ends[number] = end
            removed += len(text[start:end].encode())
    return removed, halves


def by_suffixes(texts):
    import numpy
    import pydivsufsort

    begun, _ = cost_of(resource.getrusage(resource.RUSAGE_SELF))
    everything = "\0".join(texts).encode()
    least = RUN * len(everything) // sum(len(WORD.findall(text)) for text in texts)
    data = numpy.frombuffer(everything, numpy.uint8).copy()
    array = pydivsufsort.divsufsort(data)
    same = numpy.asarray(pydivsufsort.kasai(data, array))[:len(array) - 1] >= least
    group = numpy.concatenate([[0], numpy.cumsum(~same)])
    first = numpy.full(group[-1] + 1, len(data), array.dtype)
    numpy.minimum.at(first, group, array)
    again = array[array != first[group]]
    depth = numpy.zeros(len(data) + 1, numpy.int32)
    numpy.add.at(depth, again, 1)
    numpy.add.at(depth, numpy.minimum(again + least, len(data)), -1)
    gone = numpy.cumsum(depth[:-1]) > 0
    edges = numpy.flatnonzero(gone[1:] != gone[:-1]) + 1
    latin = everything.decode("latin-1")
    halves = sum(bool(WORD.fullmatch(latin[place - 1:place + 1])) for place in edges.tolist())
    seconds, megabytes = cost_of(resource.getrusage(resource.RUSAGE_SELF))
    return seconds - begun, megabytes, int(gone.sum()), halves


def put_copies(copies):
    import numpy

    data = numpy.fromfile("machine.jsonl", numpy.uint8)
    letter = ((data | 32) >= ord("a")) & ((data | 32) <= ord("z"))
    for line in numpy.flatnonzero(data == ord("\n")).tolist():
        letter[line:line + len('{"text": "') + 1] = False
    letter[:len('{"text": "')] = False
    # An escape of JSON has up to five characters behind its backslash.
    for i in range(1, 6):
        letter[i:][data[:-i] == ord("\\")] = False
    letters, words = numpy.flatnonzero(letter), numpy.count_nonzero(letter[:-1] & ~letter[1:])
    chance = numpy.random.default_rng(1)
    with open("copies.jsonl", "wb") as out:
        data.tofile(out)
        for _ in range(copies - 1):
            copy = data.copy()
            some = chance.choice(letters, words // 8)
            copy[some] = chance.integers(ord("a"), ord("z") + 1, len(some))
            copy.tofile(out)


def mark(neardup, file):
    """Returns the processor and the memory that it takes to mark the passages of a file."""
    with open("rows", "wb") as out:
        child = subprocess.Popen([neardup, "dedupe", "--unit", "passage", "--jobs", "1", "--mark", file], stdout=out, stderr=subprocess.DEVNULL)
    return cost_of(os.wait4(child.pid, 0)[2])


def main():
    neardup, most = sys.argv[1], float(sys.argv[2])
    if os.fork() == 0:
        # A new process has the memory of this one at first, which is to be little.
        gather(most * 1e6)
        os._exit(0)
    os.wait()
    costs = mark(neardup, "machine.jsonl")
    for step, files in ([], ("machine.jsonl", "near.jsonl")), (["--unit", "passage"], ("near.jsonl", "passages.jsonl")):
        with open(files[1], "wb") as out:
            subprocess.run([neardup, "dedupe", *step, files[0]], stdout=out, stderr=subprocess.DEVNULL, check=True)
        print("dedupe", *step, *(f"{os.path.getsize(file) / 1e6:.1f} MB" for file in files))
    with open("machine.jsonl", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    size = sum(len(text.encode()) for text in texts)
    print(f"\n{len(texts):,} texts, {size / 1e6:.0f} MB\n\n| | s of processor | MB/s | memory, MB | removed, MB | words cut in two |\n|---|---:|---:|---:|---:|---:|")
    row("`neardup dedupe --unit passage --mark`", size, *costs, *marked(texts))
    row("suffix array of bytes", size, *by_suffixes(texts))
    for copies in sys.argv[3:]:
        if os.fork() == 0:
            put_copies(int(copies))
            os._exit(0)
        os.wait()
        seconds, megabytes = mark(neardup, "copies.jsonl")
        print(f"{copies} altered copies, {os.path.getsize('copies.jsonl') / 1e6:.0f} MB: {seconds:.0f} s of processor, {megabytes:.0f} MB")


main()
