-- This index finds all signatures within a threshold of a signature, exactly.
CREATE INDEX ON documents USING neardup (sig);
