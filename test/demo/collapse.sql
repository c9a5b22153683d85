-- Equal signatures collapse first: thousands of copies must not pair with each
-- other.  Numbered in the order in which a document is kept: the longest first.
CREATE TABLE signatures AS
SELECT row_number() OVER (ORDER BY max(length(body)) DESC, min(id))::int AS no,
	sig,
	minhash_bands(sig, :rows) AS bands,
	count(*)::int AS copies,
	min(id) AS id
FROM documents
WHERE is_similar(sig, sig, 1) -- an empty text is similar to nothing
GROUP BY sig;
ALTER TABLE signatures ADD PRIMARY KEY (no);
ANALYZE signatures;

CREATE TABLE pairs (
	a int,
	b int,
	similarity float8 NOT NULL,
	PRIMARY KEY (a, b)
);

CREATE TABLE hot_buckets (
	band int,
	key bigint,
	signatures bigint
);
