"""Deduplicates one file of texts with neardup and with other tools, a process each, and compares what goes.

    tools.py TEXTS NEARDUP THRESHOLD TOOL[:BANDSxROWS] ...
    tools.py TEXTS NEARDUP THRESHOLD TOOL goes     writes what goes, a number a line

TEXTS is a TSV file with a line of names, id and text, ids from 1; NEARDUP is the command.  All compare sets of five words in a
row, in one thread, and keep one record of similar ones; tools with bands have 16 of 8 hashes unless told.  The truth are the
pairs of exact sets.
Found: of these pairs, the share of which a record goes.  Wrong: of the records that go, the share that resembles no other by the
threshold; far: by .1 less.  F1 is of found and of what is not wrong.
Prints a row of Markdown for each tool: tool, threshold, settings, texts, seconds of processor, MB, found, wrong, far, F1; or why it
was not run.
"""

import contextlib
import os
import struct
import subprocess
import sys
import tempfile
from array import array

WORDS, THRESHOLD = 5, float(sys.argv[3])


def bands_of(tool):
    return map(int, (tool.partition(":")[2] or "16x8").split("x"))


BANDS, ROWS = bands_of(sys.argv[4])
WIDTH = BANDS * ROWS


def texts():
    with open(sys.argv[1], encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            yield line.rstrip("\n").split("\t")[1]


def shingles(text):
    words = text.split()
    return {" ".join(words[i:i + WORDS]) for i in range(max(len(words) - WORDS + 1, 1))}


def greedy(sketched, index, is_similar=None):
    """Keeps a text of which the index knows no candidate, or none that is similar."""
    kept = {}
    for i, sketch in enumerate(sketched):
        candidates = index.query(sketch)
        if any(is_similar(sketch, kept[key]) for key in candidates) if is_similar else candidates:
            yield i
        else:
            index.insert(i, sketch)
            if is_similar:
                kept[i] = sketch


def datasketch():
    """{width} permutations, MinHashLSH(threshold), candidates not checked"""
    yield from _datasketch(None)


def datasketch_checked():
    """the same, candidates checked by jaccard()"""
    yield from _datasketch(lambda a, b: a.jaccard(b) >= THRESHOLD)


def _datasketch(is_similar):
    from datasketch import MinHash, MinHashLSH

    def sketch(text):
        result = MinHash(num_perm=WIDTH)
        result.update_batch([shingle.encode() for shingle in shingles(text)])
        return result

    yield from greedy(map(sketch, texts()), MinHashLSH(threshold=THRESHOLD, num_perm=WIDTH), is_similar)


def rensa():
    """RMinHash of {width}, {bands} bands, candidates checked by their sketches"""
    from rensa import RMinHash, RMinHashLSH

    def sketch(text):
        result = RMinHash(num_perm=WIDTH, seed=42)
        result.update(list(shingles(text)))
        return result

    yield from greedy(map(sketch, texts()), RMinHashLSH(threshold=THRESHOLD, num_perm=WIDTH, num_bands=BANDS),
                      lambda a, b: a.jaccard(b) >= THRESHOLD)


def gaoya():
    """MinHashStringIndex, 32 bits, {bands} bands of {rows}, which checks candidates by their sketches"""
    from gaoya.minhash import MinHashStringIndex
    index = MinHashStringIndex(32, THRESHOLD, BANDS, ROWS, None, "word", False, (WORDS, WORDS), id_container="smallvec")
    for i, text in enumerate(texts()):
        if index.query(text):
            yield i
        else:
            index.insert_document(i, text)


def fastsketch():
    """FastSimilaritySketch of {width}, {bands} bands, candidates checked by estimate_jaccard()"""
    from FastSketchLSH import LSH, FastSimilaritySketch, estimate_jaccard
    sketcher, index, sketches, goes = FastSimilaritySketch(size=WIDTH, seed=42), LSH(num_perm=WIDTH, num_bands=BANDS, num_threads=1), [], set()
    for batch in _batches(10000):
        sketches.append(sketcher.batch([sorted(shingles(text)) for text in batch], num_threads=1))
        index.insert(sketches[-1])
    rows = [row for some in sketches for row in some]
    for i, row in enumerate(rows):
        if any(j < i and j not in goes and estimate_jaccard(row, rows[j]) >= THRESHOLD for j in index.query(row)):
            goes.add(i)
            yield i


def _batches(size):
    batch = []
    for text in texts():
        batch.append(text)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def daft():
    """minhash() of {width}, {bands} bands of {rows}, exploded and grouped; all but the first of a group go, not checked"""
    import daft
    from daft import col
    daft.set_runner_native(num_threads=1)
    frame = daft.read_csv(sys.argv[1], delimiter="\t").with_column("sketch", col("text").minhash(num_hashes=WIDTH, ngram_size=WORDS))
    bands = daft.functions.to_list(*(col("sketch").slice(band * ROWS, (band + 1) * ROWS).hash(seed=daft.lit(band)) for band in range(BANDS)))
    frame = frame.select("id", bands.alias("band")).explode("band")
    groups = frame.groupby("band").agg(col("id").list_agg()).where(col("id").list_count() > 1).to_pydict()["id"]
    yield from {i - 1 for group in groups for i in sorted(group)[1:]}


def text_dedup():
    """text_dedup.minhash of {width}, --hash_func xxh3, bands as it chooses, clusters by bands that are equal, not checked"""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", _as_jsonl(folder), "--split", "train", "--column",
                        "text", "--ngram", str(WORDS), "--num_perm", str(WIDTH), "--threshold", str(THRESHOLD), "--hash_func", "xxh3",
                        "--num_proc", "1", "--cache_dir", f"{folder}/cache", "--output", f"{folder}/out"],
                       check=True, stdout=sys.stderr, env={**os.environ, "HF_DATASETS_CACHE": f"{folder}/cache", "HF_HUB_OFFLINE": "1"})
        import datasets
        stays = set(datasets.load_from_disk(f"{folder}/out")["id"])
        yield from (i for i in range(sum(1 for _ in texts())) if i + 1 not in stays)


def _as_jsonl(folder):
    """Writes the texts, which are of lower-case letters and blanks."""
    path = f"{folder}/texts.jsonl"
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(f'{{"id": {i}, "text": "{text}"}}\n' for i, text in enumerate(texts(), 1))
    return path


def datatrove():
    """MinhashConfig of {bands} buckets of {rows}, clusters by buckets that are equal, not checked; the first three stages"""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    config = MinhashConfig(num_buckets=BANDS, hashes_per_bucket=ROWS)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        stages = (
            [JsonlReader(os.path.dirname(_as_jsonl(folder)), glob_pattern="texts.jsonl"), MinhashDedupSignature(f"{folder}/signatures", config)],
            [MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=config)],
            [MinhashDedupCluster(f"{folder}/buckets", f"{folder}/goes", config=config)])
        for tasks, stage in zip((1, config.num_buckets, 1), stages):
            LocalPipelineExecutor(stage, tasks=tasks, workers=1, logging_dir=f"{folder}/log{tasks}{len(stage)}{id(stage)}").run()
        with open(f"{folder}/goes/000000.remove", "rb") as file:
            goes = [number for number, in struct.iter_unpack("<I", file.read())]
    yield from goes


def neardup():
    """the defaults: candidates by 192 symbols of 2 bits, decided by the texts"""
    yield from _of_command()


def neardup_signatures():
    """--decide signatures: the estimate of 512 bits decides"""
    yield from _of_command("--decide", "signatures")


def neardup_wide():
    """--minhash 256,32: candidates by 256 symbols of 32 bits, decided by the texts"""
    yield from _of_command("--minhash", "256,32")


def _of_command(*more):
    command, next_id = [sys.argv[2], "dedupe", "-j1", "-s", f"word {WORDS}", "-t", str(THRESHOLD), *more, sys.argv[1]], 1
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        next(process.stdout)
        for line in process.stdout:
            stays = int(line.partition("\t")[0])
            yield from range(next_id - 1, stays - 1)
            next_id = stays + 1
    if process.returncode:
        raise RuntimeError("the command failed")
    yield from range(next_id - 1, sum(1 for _ in texts()))


TOOLS = {tool.__name__: tool for tool in (neardup, neardup_signatures, neardup_wide, daft, rensa, fastsketch, gaoya, datasketch,
                                          datasketch_checked, text_dedup, datatrove)}


def truth(rows):
    """Returns the pairs, in one array, and for each text 1 if another resembles it by .1 less than the threshold, 2 if by it."""
    pairs, similar = array("I"), bytearray(rows)
    with subprocess.Popen([sys.argv[2], "pairs", "--shingles", "-s", f"word {WORDS}", "-t", str(round(THRESHOLD - 0.1, 3)), sys.argv[1]],
                          stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            a, b, similarity = line.split("\t")[:3]
            level = 1 + (float(similarity) >= THRESHOLD)
            for i in int(a) - 1, int(b) - 1:
                similar[i] = max(similar[i], level)
                if level > 1:
                    pairs.append(i)
    if process.returncode:
        raise RuntimeError("the command failed")
    return pairs, similar


def measure(tool, pairs, similar):
    """Runs a tool in a process whose memory does not count what this one has."""
    read, write = os.pipe()
    error = tempfile.TemporaryFile("w+")
    child = os.posix_spawn(sys.executable, [sys.executable, __file__, *sys.argv[1:4], tool, "goes"], os.environ,
                           file_actions=[(os.POSIX_SPAWN_DUP2, write, 1), (os.POSIX_SPAWN_DUP2, error.fileno(), 2)])
    os.close(write)
    goes = bytearray(len(similar))
    with os.fdopen(read) as lines:
        for line in lines:
            goes[int(line)] = 1
    _, status, used = os.wait4(child, 0)
    if status:
        error.seek(0)
        raise RuntimeError(error.read().strip().rpartition("\n")[2] or "it failed")
    found = sum(goes[a] or goes[b] for a, b in zip(pairs[::2], pairs[1::2])) / max(len(pairs) / 2, 1)
    wrong, far = (sum(go and like < level for go, like in zip(goes, similar)) / max(sum(goes), 1) for level in (2, 1))
    shares = found, wrong, far, 2 * found * (1 - wrong) / max(found + 1 - wrong, 1e-9)
    return f"{used.ru_utime + used.ru_stime:.1f}", str(used.ru_maxrss // 1024), *(f"{share:.1%}" for share in shares)


def function(tool):
    return TOOLS[tool.partition(":")[0]]


def settings(tool):
    bands, rows = bands_of(tool)
    return function(tool).__doc__.format(bands=bands, rows=rows, width=bands * rows)


def main():
    if sys.argv[5:] == ["goes"]:
        sys.stdout.writelines(f"{i}\n" for i in function(sys.argv[4])())
        sys.stdout.flush()
        os._exit(0)
    pairs, similar = truth(sum(1 for _ in texts()))
    for tool in sys.argv[4:]:
        try:
            figures = measure(tool, pairs, similar)
        except RuntimeError as error:
            figures = (f"not run: {error}",)
        print("| " + " | ".join([tool, str(THRESHOLD), settings(tool), str(len(similar)), *figures]) + " |", flush=True)


if __name__ == "__main__":
    main()
