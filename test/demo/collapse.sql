-- Equal signatures collapse first: thousands of copies must not pair with each
-- other.  Numbered in the order in which a document is kept: the longest first.
CREATE TABLE signatures AS
SELECT row_number() OVER (ORDER BY max(length(body)) DESC, min(id))::int AS no,
	sig,
	count(*)::int AS copies,
	min(id) AS id
FROM documents
WHERE is_similar(sig, sig, 1) -- an empty text is similar to nothing
GROUP BY sig;
ALTER TABLE signatures ADD PRIMARY KEY (no);
CREATE INDEX ON signatures USING neardup (sig);
ANALYZE signatures;

CREATE TABLE pairs (
	a int,
	b int,
	similarity float8 NOT NULL
);
