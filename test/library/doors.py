"""Answers questions for test/t/055_doors.pl by the package: a line each, of a file to write and what test/library/doors.c has."""

import sys

import neardup


def column(path):
    with open(path, "rb") as file:
        return [value for (value,) in neardup.read_binary(file)]


def values_of(line):
    if not line["python"]:
        return column(line["values"])
    texts = [text.decode() for text in column(line["texts"])]
    with_lexicon = {"lexicon": neardup.Lexicon(open(line["lexicon"]).read())} if line["lexicon"] else {}
    return eval(line["python"], {**vars(neardup), **with_lexicon, "texts": texts})


def lines(line, values):
    split = int(line["split"])
    options = {"multiset": "m" in line["measure"], "containment": "c" in line["measure"], "jobs": int(line["jobs"])}
    if int(line["memory"]):
        options["memory"] = int(line["memory"])
    threshold = float(line["threshold"])
    if line["question"] == "pairs":
        yield from ((a + 1, b + 1, s) for a, b, s in neardup.pairs(values, threshold, **options))
    elif line["question"] == "pairs_against":
        yield from ((a + 1, b + split + 1, s) for a, b, s in neardup.pairs(values[:split], threshold, against=values[split:], **options))
    elif line["question"] in ("stars", "nearest"):
        keepers, similarities = neardup.clusters(values, threshold, nearest=line["question"] == "nearest", **options)
        sizes = [0] * len(values)
        for keeper in keepers:
            if keeper != neardup.NO_KEEPER:
                sizes[keeper] += 1
        for i, (keeper, similarity) in enumerate(zip(keepers, similarities)):
            if keeper != neardup.NO_KEEPER and sizes[keeper] > 1:
                yield i + 1, keeper + 1, similarity, sizes[keeper]
    else:
        found = neardup.clusters(values[:split], threshold, against=values[split:], nearest=line["question"] == "held_nearest", **options)
        for i, (keeper, similarity) in enumerate(zip(*found)):
            if keeper != neardup.NO_KEEPER:
                yield i + 1, keeper + split + 1, similarity


NAMES = "out question threshold split measure jobs memory kind values python texts lexicon".split()
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
