-- Searches of the large table in server-side loops, for BENCH=large: again, after each query ran once.
TRUNCATE answers;
SELECT contest('at ' || d, 'now', 'large_queries', format('SELECT id FROM large WHERE is_within(sig, v.sig, %s)', d), 2, CASE WHEN d <= 20 THEN 1000 ELSE 200 END, 'enable_seqscan = off')
FROM unnest('{0,20,40,60}'::int[]) d \g /dev/null
SELECT format('ms at %s, again', d), median_ms('at ' || d, 'now') FROM unnest('{0,20,40,60}'::int[]) d;
SELECT 'answers at ' || d, digest('at ' || d, 'now') FROM unnest('{0,20,40,60}'::int[]) d;
CREATE TEMP TABLE explained AS
SELECT d, q.id, e.postings, e.candidates
FROM unnest('{0,20,40,60}'::int[]) d, large_queries q, neardup_explain('large_sig', hamming_ball(q.sig, d)) e WHERE q.id <= 40;
SELECT format('%s at %s', what, d), round(sum(n) / count(DISTINCT id), 1)
FROM explained, LATERAL (VALUES ('postings', postings), ('candidates', candidates)) v (what, n) GROUP BY what, d ORDER BY what, d;
SELECT contest('scan', 'now', 'large_queries', 'SELECT id FROM large WHERE is_within(sig, v.sig, 20)', 1, 5, 'enable_indexscan = off, enable_bitmapscan = off') \g /dev/null
SELECT 'ms of a scan of the table', median_ms('scan', 'now');
