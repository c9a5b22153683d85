-- Whatever lies within a threshold of a signature is found by this, exactly.
CREATE INDEX ON documents USING neardup (sig);
