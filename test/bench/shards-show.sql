-- Prints what shards.sh has recorded.
CREATE TABLE found AS
SELECT CASE WHEN what LIKE 'share %' THEN 'each server its share: all shares' ELSE what END AS what, a, b FROM pairs;
CREATE TABLE shown AS
SELECT place, what, seconds FROM calls WHERE what NOT LIKE 'share %'
UNION ALL SELECT 1000, 'each server its share: all shares', sum(seconds) FROM calls WHERE what LIKE 'share %'
UNION ALL SELECT 1001, 'each server its share: the longest', max(seconds) FROM calls WHERE what LIKE 'share %';
\echo
SELECT format('Pairs at 0.8 of %s documents, on one server and on four. One process each, one after the other.', count(*)) FROM m;
\echo
\echo '| where | seconds | times one server | pairs | equal to those of one server |'
\echo '|---|---:|---:|---:|---|'
SELECT format('| %s | %s | %s | %s | %s |', what, round(seconds::numeric, 1),
	round((seconds / (SELECT seconds FROM calls WHERE what = 'one server'))::numeric, 2), nullif(number, 0),
	CASE WHEN number > 0 THEN CASE WHEN differ = 0 THEN 'yes' ELSE 'no: ' || differ END END)
FROM shown s, LATERAL (
	SELECT (SELECT count(*) FROM found f WHERE f.what = s.what) AS number,
		(SELECT count(*) FROM (SELECT a, b, count(*) FILTER (WHERE what = 'one server') AS one, count(*) FILTER (WHERE what = s.what) AS here
			FROM found GROUP BY a, b) p WHERE one <> 1 OR here <> 1) AS differ) c
ORDER BY place;
\echo
\echo '| rate, of one process | | |'
\echo '|---|---:|---|'
SELECT format('| %s | %s | %s |', what, round(value::numeric, CASE WHEN value < 10 THEN 3 ELSE 0 END), unit) FROM rates ORDER BY place;
