-- Groups are stars: in the order of keeping, a document within the threshold of
-- an earlier keeper joins the first such keeper; any other is a keeper.
CREATE TABLE members (
	no int PRIMARY KEY,
	keeper int NOT NULL,
	similarity float8 NOT NULL
);

-- Pairs in this order decide all earlier signatures before a later one asks.
DO $$
DECLARE
	pair record;
	joined boolean[] := array_fill(false, ARRAY[(SELECT max(no) FROM signatures)]);
BEGIN
	FOR pair IN SELECT * FROM pairs ORDER BY b, a
	LOOP
		CONTINUE WHEN joined[pair.a] OR joined[pair.b];
		joined[pair.b] := true;
		INSERT INTO members VALUES (pair.b, pair.a, pair.similarity);
	END LOOP;
END
$$;
ANALYZE members;

-- Every document that is not alone, with its group.
CREATE TABLE groups AS
SELECT coalesce(m.keeper, s.no) AS keeper, d.id, coalesce(m.similarity, 1) AS similarity
FROM signatures s
	LEFT JOIN members m USING (no)
	JOIN documents d ON d.sig = s.sig;
DELETE FROM groups WHERE keeper IN (SELECT keeper FROM groups GROUP BY keeper HAVING count(*) = 1);
CREATE INDEX ON groups (keeper);
ANALYZE groups;
