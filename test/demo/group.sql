-- Groups are stars: in the order of keeping, a document within the threshold of
-- an earlier keeper joins the first such keeper; any other is a keeper.
CREATE TABLE members (
	no int PRIMARY KEY,
	keeper int NOT NULL,
	similarity float8 NOT NULL
);

DO $$
DECLARE
	this record;
BEGIN
	FOR this IN SELECT DISTINCT unnest(ARRAY[a, b]) AS no FROM pairs ORDER BY no
	LOOP
		INSERT INTO members
		SELECT this.no, a, pairs.similarity
		FROM pairs JOIN members ON members.no = a AND keeper = a
		WHERE b = this.no
		ORDER BY a LIMIT 1;
		IF NOT FOUND THEN
			INSERT INTO members VALUES (this.no, this.no, 1);
		END IF;
	END LOOP;
END
$$;

-- Every document that is not alone, with its group.
CREATE TABLE groups AS
SELECT coalesce(m.keeper, s.no) AS keeper, d.id, coalesce(m.similarity, 1) AS similarity
FROM signatures s
	LEFT JOIN members m USING (no)
	JOIN documents d ON d.sig = s.sig;
DELETE FROM groups WHERE keeper IN (SELECT keeper FROM groups GROUP BY keeper HAVING count(*) = 1);
CREATE INDEX ON groups (keeper);
ANALYZE groups;
