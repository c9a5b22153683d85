-- Searches when a share of the index fits in shared_buffers, for BENCH=large.  All runs
-- count, since the best would be those that find their pages.
TRUNCATE answers;
SELECT contest('at ' || d, 'warming', 'large_queries', format('SELECT id FROM large WHERE hamming_within(sig, v.sig, %s)', d), 1, 200, 'enable_seqscan = off'),
	contest('at ' || d, 'share', 'large_queries', format('SELECT id FROM large WHERE hamming_within(sig, v.sig, %s)', d), 1, 200, 'enable_seqscan = off')
FROM unnest('{20,60}'::int[]) d \g /dev/null
SELECT format('share %s of the index in buffers: ms %s', :'share', contest), percentile_cont(0.5) WITHIN GROUP (ORDER BY us) / 1000
FROM answers WHERE label = 'share' GROUP BY contest ORDER BY contest;
