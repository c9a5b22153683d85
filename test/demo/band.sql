-- One band: an equi-join by its keys proposes pairs, is_similar() decides.
-- A bucket that holds too many different signatures is left to the other bands.
INSERT INTO hot_buckets
SELECT :band, bands[:band], count(*) FROM signatures GROUP BY bands[:band] HAVING count(*) > :cap;

INSERT INTO pairs
SELECT x.no, y.no, similarity(x.sig, y.sig)
FROM signatures x
	JOIN signatures y ON x.bands[:band] = y.bands[:band] AND x.no < y.no
WHERE is_similar(x.sig, y.sig, :threshold)
	AND x.bands[:band] NOT IN (SELECT key FROM hot_buckets WHERE band = :band)
ON CONFLICT DO NOTHING;

SELECT count(*) FROM pairs;
