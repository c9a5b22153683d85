-- A generated column: every row, now and later, carries the signature of its text.
ALTER TABLE documents
	ADD COLUMN sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED;
ANALYZE documents;
