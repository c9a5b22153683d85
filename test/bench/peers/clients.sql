-- What several clients need that insert.  A table with an exclusion constraint begins without near-duplicates.
CREATE SEQUENCE client_ids START 100000000;
CREATE TABLE guarded_texts AS SELECT id, body FROM docs WHERE id NOT IN (SELECT b FROM pairs WHERE peer = 'neardup');
ALTER TABLE guarded_texts ADD PRIMARY KEY (id);
ALTER TABLE guarded_texts ADD COLUMN sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED;
ALTER TABLE guarded_texts ADD EXCLUDE USING neardup (near(sig, 0.8) WITH &&);
-- A few texts are alike even so, for instance those without blanks.
SELECT make_insert('guarded', 'INSERT INTO guarded_texts VALUES (id, body) ON CONFLICT DO NOTHING');
VACUUM ANALYZE;
