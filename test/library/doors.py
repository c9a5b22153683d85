"""Answers questions for test/t/055_doors.pl by the package: a line each, of a file to write and what test/library/doors.c has;
a measure may also have p, for pairs in parts."""

import sys

import neardup


def column(path):
    with open(path, "rb") as file:
        return [value for (value,) in neardup.read_binary(file)]


def names_for(line):
    return {"lexicon": neardup.Lexicon(open(line["lexicon"]).read())} if line["lexicon"] else {}


def texts_of(line):
    return [text.decode() for text in column(line["texts"])]


def values_of(line):
    if not line["python"]:
        return column(line["values"])
    return eval(line["python"], {**vars(neardup), **names_for(line), "texts": texts_of(line)})


def by_texts(line, question, threshold, options):
    """Clusters by dedupe(), whose report has them."""
    split, rows = int(line["split"]), [{"text": text} for text in texts_of(line)]
    how = eval(line["python"], {"minhash": lambda texts, **how: how, **names_for(line), "texts": None})
    held = {"against": rows[split:]} if "held" in question else {}
    answer = neardup.dedupe(rows[:split] if held else rows, threshold, text="text", report=True, nearest="nearest" in question, **how, **held, **options)
    for i, row in enumerate(answer):
        if held and row["against"] is not None:
            yield i + 1, row["against"] + split + 1, row["similarity"]
        elif not held and row["keeper"] is not None and row["size"] > 1:
            yield i + 1, row["keeper"] + 1, row["similarity"], row["size"]


def lines(line, values):
    split, question, threshold = int(line["split"]), line["question"].removeprefix("decided_").removeprefix("contained_"), float(line["threshold"])
    options = {"jobs": int(line["jobs"])}
    if int(line["memory"]):
        options["memory"] = int(line["memory"])
    if "contained" in line["question"]:
        # All pairs are looked at.
        options["contained"], threshold = threshold, 0.01
    by_sets = question != line["question"]
    if by_sets and line["python"] and "pairs" not in question and split:
        yield from by_texts(line, question, threshold, options)
        return
    sets = column(line["sets"]) if by_sets else []

    def part(start, end=None):
        return neardup.Values.of(values[start:end]).decided_by(sets[start:end]) if by_sets else values[start:end]

    options |= {"multiset": "m" in line["measure"], "containment": "c" in line["measure"]}
    parts = [{"part": (3, a, b)} for b in range(3) for a in range(b + 1)] if "p" in line["measure"] else [{}]
    if question == "pairs":
        yield from ((a + 1, b + 1, s) for some in parts for a, b, s in neardup.pairs(part(0), threshold, **options, **some))
    elif question == "pairs_against":
        parts = [some for some in parts if not some or some["part"][1] == some["part"][2]]
        yield from ((a + 1, b + split + 1, s) for some in parts for a, b, s in neardup.pairs(part(0, split), threshold, against=part(split), **options, **some))
    elif question in ("stars", "nearest"):
        keepers, similarities = neardup.clusters(part(0), threshold, nearest=question == "nearest", **options)
        sizes = [0] * len(values)
        for keeper in keepers:
            if keeper != neardup.NO_KEEPER:
                sizes[keeper] += 1
        for i, (keeper, similarity) in enumerate(zip(keepers, similarities)):
            if keeper != neardup.NO_KEEPER and sizes[keeper] > 1:
                yield i + 1, keeper + 1, similarity, sizes[keeper]
    else:
        found = neardup.clusters(part(0, split), threshold, against=part(split), nearest=question == "held_nearest", **options)
        for i, (keeper, similarity) in enumerate(zip(*found)):
            if keeper != neardup.NO_KEEPER:
                yield i + 1, keeper + split + 1, similarity


NAMES = "out question threshold split measure jobs memory kind values sets python texts lexicon".split()
made = None, None
for request in sys.stdin:
    line = dict(zip(NAMES, request.rstrip("\n").split("\t")))
    if made[0] != line["values"]:
        made = line["values"], values_of(line)
    with open(line["out"], "w") as out:
        try:
            out.writelines("\t".join(str(number).removesuffix(".0") for number in row) + "\n" for row in lines(line, made[1]))
        except (TypeError, neardup.NeardupError) as error:
            print(error, file=out)
