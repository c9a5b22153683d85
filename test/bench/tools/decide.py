"""Checks what dedupe says of records that went, from the texts alone: decide.py RECORDS REPORT WORDS THRESHOLD.

Each record that went has at least this resemblance to its keeper, by sets of so many words that follow each other, and the similarity
that the report has; and each keeper stays.  Texts are of lower-case words with a blank between two of them."""

import json
import sys

records, report, words, threshold = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
went = [line.rstrip("\n").split("\t") for line in open(report)]
wanted = {id for row in went for id in row[:2]}
sets = {}
for line in open(records):
    record = json.loads(line)
    if str(record["id"]) in wanted:
        text = record["text"].split(" ")
        sets[str(record["id"])] = {hash(tuple(text[i:i + words])) for i in range(max(1, len(text) - words + 1))}

gone, below, differ, lost = {row[0] for row in went}, 0, 0, 0
for id, keeper, similarity, *_ in went:
    shared = len(sets[id] & sets[keeper])
    exact = shared / (len(sets[id]) + len(sets[keeper]) - shared)
    below += exact < threshold
    differ += exact != float(similarity)
    lost += keeper in gone
print(f"{len(went)} records went; {below} of them lie below {threshold}, {differ} similarities differ, {lost} keepers went")
