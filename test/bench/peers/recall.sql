-- The recall and the time of approximate searches at 0.8, with several settings.
SELECT try_setting('recall', peer, name, value, 'search', :seconds) FROM vector_settings;

-- All bands of 128 symbols, of so many rows each; the signature then decides.  All indexes are of the same column.
CREATE FUNCTION try_bands(rows int, seconds float8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX tried_bands ON bands_gin_texts USING gin (minhash_bands(sig, %s))', rows);
	EXECUTE 'ANALYZE bands_gin_texts';
	PERFORM make_function('bands_gin', 'bands_of_' || rows, format('s minhash := to_minhash(q, 128, 32); query_keys bigint[] := minhash_bands(s, %s);', rows),
		format('SELECT id FROM bands_gin_texts WHERE minhash_bands(sig, %s) && query_keys AND is_similar(sig, s, 0.8)', rows));
	PERFORM try_search('recall', 'bands_gin', format('%s × %s', 128 / rows, rows), 'bands_of_' || rows, seconds);
	DROP INDEX tried_bands;
END $$;
SELECT try_bands(rows, :seconds) FROM unnest('{4,5,6,7,8,10,13,16}'::int[]) rows;

-- Shorter and longer signatures.
CREATE TABLE tried_bits AS SELECT id, to_minhash(body, 128) AS sig128, to_minhash(body, 256) AS sig256, to_minhash(body, 1024) AS sig1024 FROM docs;
SELECT format('CREATE INDEX ON tried_bits USING neardup (sig%s)', bits) FROM unnest('{128,256,1024}'::int[]) bits \gexec
ANALYZE tried_bits;
SELECT make_function('neardup', 'bits_' || bits, format('s minhash := to_minhash(q, %s);', bits), format('SELECT id FROM tried_bits WHERE is_similar(sig%s, s, 0.8)', bits)),
	try_search('recall', 'neardup', bits || ' bits', 'bits_' || bits, :seconds)
FROM unnest('{128,256,1024}'::int[]) bits;
SELECT try_search('recall', 'neardup', '512 bits', 'search', :seconds);
SELECT try_search('recall', 'exact', 'candidates at 0.7', 'search', :seconds);
