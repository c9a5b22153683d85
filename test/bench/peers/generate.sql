-- Generated texts: each family has a text of 40 to 160 words and two copies, in which each
-- word is replaced with a probability of 0 to 10 %.  The frequency of a word is about one
-- over its rank.  The same number of rows gives the same texts on every machine.
CREATE FUNCTION uniform(a bigint, b bigint) RETURNS float8 LANGUAGE sql IMMUTABLE AS
	$$SELECT (hashint8extended(a, b) & 1073741823) / 1073741824.0$$;

-- Letters are about as frequent as in English.
CREATE TABLE words AS
SELECT i AS rank, string_agg(substr('eeeeeetttttaaaaooooiiiinnnnssshhhrrrddllluuccmmwfgypbvk', 1 + (uniform(i, 10 + place) * 55)::int % 55, 1), '' ORDER BY place) AS word
FROM generate_series(0, 19999) i, generate_series(0, 2 + (uniform(i, 1) * 6)::int) place
GROUP BY i;
ALTER TABLE words ADD PRIMARY KEY (rank);

CREATE TEMP TABLE generated AS
SELECT row_number() OVER (ORDER BY hashint4(i), i)::int AS id, body
FROM generate_series(0, :rows + :queries - 1) i, LATERAL (
	SELECT string_agg(word, ' ' ORDER BY place) AS body
	FROM generate_series(1, 40 + (120 * uniform(i / 3, 2))::int) place
	JOIN words ON rank = floor(exp(ln(20000) * uniform(place, CASE WHEN i % 3 > 0 AND uniform(place, 1000000000000 + i) < 0.1 * uniform(i, 3)
		THEN 2000000000000 + i ELSE i / 3 END)))::int % 20000) t;
INSERT INTO queries SELECT id, id, body FROM generated WHERE id <= :queries;
INSERT INTO docs SELECT * FROM generated WHERE id > :queries;
