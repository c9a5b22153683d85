-- With a generated column, each row has the signature of its text, now and later.
ALTER TABLE documents
	ADD COLUMN sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED;
ANALYZE documents;
