-- Groups are stars around a keeper, the first row in the query's order, here the longest text.
CREATE TABLE groups AS
SELECT * FROM neardup_clusters('SELECT id, sig FROM documents ORDER BY length(body) DESC, id', :threshold);
CREATE INDEX ON groups (keeper);
ANALYZE groups;
