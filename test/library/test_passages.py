"""neardup dedupe --unit passage against all windows of small corpora, in all formats, and its reports against the texts.

Arguments: how many random corpora, and verify.py, which has to confirm what went, and to see what is changed.  The command
neardup is in PATH.
"""

import contextlib
import csv
import importlib.util
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile

WORD = re.compile("[a-z]+|[\u4e00-\u9fff]")


def spans(text):
    return [match.span() for match in WORD.finditer(text)]


def windows_of(records, run):
    """Yields each window: its words, its record and text, and its first word."""
    for number, texts in enumerate(records):
        for part, text in enumerate(texts):
            words = [text[a:b] for a, b in spans(text)]
            for at in range(len(words) - run + 1):
                yield tuple(words[at:at + run]), (number, part), at


def model(records, run, others):
    """Returns which words of each text go: (record, text) to numbers of words; `others` records come first, or None."""
    first, repeated, stays = {}, set(), set()
    for words, where, at in windows_of(records, run):
        mine = others is None or where[0] >= others
        if words not in first:
            if others is None or not mine:
                first[words] = where, at
            continue
        there, place = first[words]
        if not mine:
            continue
        if others is None:
            stays |= {(there, place + i) for i in range(run)}
        if there != where or place + run <= at:
            repeated |= {(where, at + i) for i in range(run)}
    return repeated - stays


def without(text, gone):
    """Returns a text without some words: what follows one goes with it, up to the next one."""
    places, out, at = spans(text), "", 0
    for i, (start, end) in enumerate(places):
        if i not in gone:
            continue
        out += text[at:start]
        at = places[i + 1][0] if i + 1 < len(places) else end
        if i + 1 < len(places) and i + 1 not in gone and re.search(r"[a-z]\Z", out) and re.match("[a-z]", text[at:]):
            out += " "
    return out + text[at:]


def written(kind, records, chance):
    if kind == "jsonl":
        return "".join(json.dumps({"id": f"r{i}", "text": texts[0], "n": 1.50}, ensure_ascii=chance.random() < .5) + "\n" for i, texts in enumerate(records))
    if kind == "messages":
        return "".join(json.dumps({"id": f"r{i}", "messages": [{"role": "x y", "content": text} for text in texts]}) + "\n" for i, texts in enumerate(records))
    out = io.StringIO()
    if kind == "csv":
        csv.writer(out, quoting=chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])).writerows([["text", "id"], *([texts[0], f"r{i}"] for i, texts in enumerate(records))])
        return out.getvalue()
    escapes = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n"})
    return "id\ttext\n" + "".join(f"r{i}\t{texts[0].translate(escapes)}\n" for i, texts in enumerate(records))


def parsed(kind, text):
    if kind in ("jsonl", "messages"):
        rows = [json.loads(line) for line in text.splitlines()]
        return [(row["id"], [row["text"]] if kind == "jsonl" else [message["content"] for message in row["messages"]]) for row in rows]
    if kind == "csv":
        return [(row[1], [row[0]]) for row in list(csv.reader(io.StringIO(text)))[1:]]
    escapes = {"t": "\t", "n": "\n", "\\": "\\"}
    return [(row[0], [re.sub(r"\\(.)", lambda m: escapes[m[1]], row[1])]) for row in (line.split("\t") for line in text.split("\n")[1:-1])]


def run_command(folder, *options):
    done = subprocess.run(["neardup", "dedupe", "--unit", "passage", *options], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def check_report(report, records, others, run, gone, left):
    """Checks each row: its words and those of its first copy, which stay; together they are all that goes."""
    def words_at(number, start, end):
        text, found, base = "\n".join(records[number]), set(), 0
        for part, one in enumerate(records[number]):
            found |= {((number, part), i) for i, (a, b) in enumerate(spans(one)) if base + a >= start and base + b <= end}
            base += len(one) + 1
        return [text[a:b] for a, b in spans(text) if a >= start and b <= end], found

    told, dropped = set(), set()
    for row in (line.split("\t") for line in report.splitlines()):
        number = int(row[0][1:]) + (others or 0)
        if row[1] == "\\N":
            dropped.add(number)
            continue
        words, mine = words_at(number, int(row[1]) - 1, int(row[2]))
        first, its = words_at(int(row[3][1:]), int(row[4]) - 1, int(row[5]))
        assert words == first and mine and not its & gone, row
        told |= mine
    assert told == gone, (told ^ gone)
    assert dropped == left, (dropped, left)


def verified(folder, options, kind):
    """Returns the exit code of verify.py, and what it says."""
    taken = [option for option, before in zip(options, [None, *options]) if "--jobs" not in (option, before) and "--memory" not in (option, before)]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            VERIFY.main(["--unit", "passage", *taken, "in", "out", "report"])
        except SystemExit as end:
            return end.code, said.getvalue()
    return 0, said.getvalue()


def check_verified(folder, options, out, report, kind, chance):
    """Lets verify.py confirm a removal, and refuse one that is changed: a row that is left out or moved, or text that is."""
    def write(name, text):
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    write("out", out)
    assert verified(folder, options, kind)[0] == 0, (verified(folder, options, kind), out, report, open(os.path.join(folder, "in")).read())
    rows = report.splitlines(True)
    if not rows:
        return
    row = chance.choice(rows)
    cells = row.split("\t")
    if sum(other.startswith(cells[0] + "\t") for other in rows) == 1:
        write("report", report.replace(row, ""))
        assert verified(folder, options, kind)[0] == 1, row
    if cells[1] != "\\N":
        write("report", report.replace(row, "\t".join([*cells[:5], f"{int(cells[4]) - 1}\n"])))
        assert verified(folder, options, kind)[0] == 1, row
    write("report", report)
    written = list(re.finditer("[a-z]", out[out.index("\n") + 1:] if kind in ("csv", "tsv") else out))
    if written:
        place = chance.choice(written).start() + (out.index("\n") + 1 if kind in ("csv", "tsv") else 0)
        write("out", out[:place] + "q" + out[place + 1:])
        assert verified(folder, options, kind)[0] > 0, (out, place)


def check_corpus(folder, records, others, run, kind, chance, least=1):
    """Compares what the command writes, and reports, with the model."""
    files, options = [("in", records[others or 0:])], ["--input", "jsonl" if kind == "messages" else kind, "--id", "id", "--min-run", str(run), "--min-left", str(least)]
    if others is not None:
        files.append(("other", records[:others]))
        options += ["--against", "other"]
    if kind == "messages":
        options += ["--field", "messages[].content"]
    for name, some in files:
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
            file.write(written(kind, some, chance))
    options += ["--jobs", str(chance.randint(1, 3)), *chance.choice([[], ["--memory", "30M"]])]
    gone = model(records, run, others)
    expected, left = [], set()
    for number, texts in enumerate(records):
        stay = [{i for (where, i) in gone if where == (number, part)} for part in range(len(texts))]
        count = sum(len(spans(text)) for text in texts) - sum(map(len, stay))
        if any(stay) and count < least:
            left.add(number)
        elif number >= (others or 0):
            expected.append((f"r{number - (others or 0)}", [without(text, some) for text, some in zip(texts, stay)]))
    out = run_command(folder, *options, "--report", "report", "in")
    assert parsed(kind, out) == expected, (records, run, others, parsed(kind, out), expected)
    with open(os.path.join(folder, "report"), encoding="utf-8", newline="") as file:
        report = file.read()
    check_report(report, records, others, run, gone, left)
    marked = run_command(folder, *options, "--mark", "in")
    assert marked == report, (marked, report)
    if VERIFY:
        check_verified(folder, options, out, report, kind, chance)


def random_corpus(chance, kind):
    alphabet = chance.choice(["a", "ab", "abc", "ab漢字", ["foo", "bar", "漢", "x"]])
    gaps = chance.choice([[" "], [" ", ", ", "\n", " \"", "\\ ", "\t", " é! "[0] + "!", "…", " \U0001f600 "]])
    made = []
    for _ in range(chance.randint(1, 8)):
        texts = []
        for _ in range(chance.randint(1, 3) if kind == "messages" else 1):
            text = chance.choice(["", "", "“", "\""])
            for _ in range(chance.choice([0, 1, 5, 20, 60])):
                word = chance.choice(alphabet)
                bare = text and WORD.fullmatch(text[-1]) and (text[-1] > "z" or word > "z") and chance.random() < .4
                text += ("" if bare or not text or not WORD.fullmatch(text[-1]) else chance.choice(gaps)) + word
            texts.append(text + chance.choice(["", ".", "\n"]))
        made.append(texts)
    for _ in range(chance.randint(0, 4)):
        there = chance.choice(chance.choice(made))
        text = chance.choice(made)
        text[0] += " " + there[chance.randint(0, len(there)):chance.randint(0, len(there))]
    return made


VERIFY = None
if len(sys.argv) > 2:
    specification = importlib.util.spec_from_file_location("verify", sys.argv[2])
    VERIFY = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(VERIFY)

CHOSEN = [
    ([["a b c"], ["b c d"], ["c d"]], 2), ([[" ".join("a" * 300)]], 50), ([["a b c d"]] * 5, 4), ([["ab 漢字cd ef"], ["gh 漢字ij"]], 2),
    ([["x漢y"], ["a漢b"]], 1), ([["a a a a a"]], 1), ([["a b a b a b a b a b"], ["b a b a b"]], 4)]


def main():
    seed, count = int.from_bytes(os.urandom(4), "big"), int(sys.argv[1])
    print("seed", seed)
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for records, run in CHOSEN:
            check_corpus(folder, records, None, run, "jsonl", chance)
        for _ in range(count):
            kind = chance.choice(["jsonl", "csv", "tsv", "messages"])
            records, run = random_corpus(chance, kind), chance.choice([1, 1, 2, 2, 3, 4, 5, 9])
            others = chance.choice([None, None, chance.randint(1, len(records))])
            check_corpus(folder, records, others if others != len(records) else None, run, kind, chance, chance.randint(1, run))
        os.chdir("/")
    print(f"{len(CHOSEN) + count} corpora")


main()
