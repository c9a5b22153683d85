-- All pairs: an ordinary join, whose inner side is a search of the index.
INSERT INTO pairs
SELECT a.no, b.no, similarity(a.sig, b.sig)
FROM signatures a
	JOIN signatures b ON is_similar(a.sig, b.sig, :threshold) AND a.no < b.no;

ALTER TABLE pairs ADD PRIMARY KEY (a, b);
ANALYZE pairs;
