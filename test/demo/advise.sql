-- How to compare the texts, and at which threshold, by a sample of them.
SELECT scheme, lexicon, measure, threshold, pairs
FROM neardup_advise('SELECT id, body FROM documents');
