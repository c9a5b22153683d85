-- All pairs at once; of equal signatures each copy is paired with the first only.
CREATE TABLE pairs AS
SELECT * FROM neardup_pairs('SELECT id, sig FROM documents ORDER BY length(body) DESC, id', :threshold);
ANALYZE pairs;
