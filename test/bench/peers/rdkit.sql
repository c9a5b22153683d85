-- RDKit compares fingerprints of molecules by Tanimoto's measure, which is resemblance.  A set
-- of shingles becomes such a fingerprint when each hash sets one of 2,048 bits.
ALTER DATABASE :"DBNAME" SET rdkit.tanimoto_threshold = 0.8;
SET rdkit.tanimoto_threshold = 0.8;
CREATE FUNCTION folded(body text) RETURNS bfp LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
	bits bytea := decode(repeat('00', 256), 'hex');
	hash bigint;
BEGIN
	FOREACH hash IN ARRAY shingle_hashes(to_shingles(body)) LOOP
		bits := set_bit(bits, (hash & 2047)::int, 1);
	END LOOP;
	RETURN bfp_from_binary_text(bits);
END $$;
SELECT make_peer('rdkit', 'RDKit, GiST, sets folded into 2,048 bits', 'yes, of these bits', 'index');
SELECT time_statement('rdkit', 'build', 'ALTER TABLE rdkit_texts ADD COLUMN bits bfp GENERATED ALWAYS AS (folded(body)) STORED');
SELECT time_statement('rdkit', 'build', 'CREATE INDEX ON rdkit_texts USING gist (bits)');
SELECT make_function('rdkit', 'search', 'b bfp := folded(q);', 'SELECT id FROM rdkit_texts WHERE bits % b'),
	make_function('rdkit', 'nearest', 'b bfp := folded(q);', 'SELECT id FROM rdkit_texts ORDER BY bits <%> b LIMIT 10'),
	make_insert('rdkit', 'INSERT INTO rdkit_texts VALUES (id, body)');
