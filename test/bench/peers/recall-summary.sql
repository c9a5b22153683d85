-- What searches with several settings found of the truth.
-- The titles of Python name a shape, which is a setting here.
SET enable_seqscan = on;
ANALYZE tried_timed;
ANALYZE tried_found;
CREATE TABLE recall_curve AS
WITH times AS (
	SELECT peer, setting, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms FROM tried_timed WHERE curve = 'recall' GROUP BY peer, setting),
expected AS (
	SELECT peer, setting, count(t.id) AS number
	FROM (SELECT DISTINCT peer, setting, query FROM tried_timed WHERE curve = 'recall') q LEFT JOIN truth t USING (query) GROUP BY peer, setting),
answers AS (
	SELECT peer, setting, count(*) AS number, count(t.id) AS right_ones
	FROM tried_found f LEFT JOIN truth t USING (query, id) WHERE curve = 'recall' GROUP BY peer, setting)
SELECT place, peer, split_part(title, ': ', 1) AS title, setting, round(ms::numeric, 4) AS ms,
	round((coalesce(right_ones, 0)::float8 / nullif(e.number, 0))::numeric, 4) AS recall, round((right_ones::float8 / nullif(a.number, 0))::numeric, 4) AS precision
FROM times JOIN expected e USING (peer, setting) LEFT JOIN answers a USING (peer, setting) JOIN peers USING (peer);
