-- neardup-sign.sql: gives a big table signatures and an index while it is in use.
--
--   psql -v table=proposals [-v 'expression=to_minhash(body)'] [-v signature=sig] -f neardup-sign.sql
--
-- An index of a partitioned table cannot be made CONCURRENTLY: the procedure prints what to type.
\set ON_ERROR_STOP on
\if :{?expression} \else \set expression to_minhash(body) \endif
\if :{?signature} \else \set signature sig \endif

CALL neardup_sign_table(:'table', :'expression', :'signature');
CREATE INDEX CONCURRENTLY ON :table USING neardup (:"signature");
ANALYZE :table;
