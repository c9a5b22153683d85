-- Searches when a share of the index fits in shared_buffers, for BENCH=large.  After searches
-- that read most of the index, each query runs once, so that none finds pages of its own.
TRUNCATE answers;
CREATE TEMP VIEW for_60 AS SELECT * FROM large_queries WHERE id BETWEEN 601 AND 800;
CREATE TEMP VIEW for_20 AS SELECT * FROM large_queries WHERE id BETWEEN 801 AND 1000;
SELECT contest('warming', 'share', 'large_queries', 'SELECT id FROM large WHERE is_within(sig, v.sig, 60)', 1, 600, 'enable_seqscan = off'),
	contest('at 60', 'share', 'for_60', 'SELECT id FROM large WHERE is_within(sig, v.sig, 60)', 1, 200, 'enable_seqscan = off'),
	contest('at 20', 'share', 'for_20', 'SELECT id FROM large WHERE is_within(sig, v.sig, 20)', 1, 200, 'enable_seqscan = off') \g /dev/null
SELECT format('share %s of the index in buffers: ms %s', :'share', contest), median_ms(contest, 'share') FROM unnest('{at 20,at 60}'::text[]) contest;
\set label 'share ' :share ' of the index in buffers: '
\ir pages.sql
