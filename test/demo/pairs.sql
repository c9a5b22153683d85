-- All pairs; each copy of equal signatures is paired with the first only.
CREATE TABLE pairs AS
SELECT * FROM neardup_pairs('SELECT id, sig FROM documents ORDER BY length(body) DESC, id', :threshold);
ANALYZE pairs;
