-- The same text gives the same shingles in every encoding and collation.

\set home :DBNAME
SELECT 'Crème brûlée, ½ Straße à l''ÉTÉ: æøå ÀÉÎ ÿ' AS western, '東京タワー ｶﾀｶﾅ full' AS japanese \gset
SELECT to_shingles(:'western') AS western_word, to_shingles(:'western', 'char 4') AS western_char,
	to_shingles(string_to_array(:'western', ' ')) AS western_tokens,
	to_shingles(:'japanese') AS japanese_word, to_shingles(:'japanese', 'char 4') AS japanese_char \gset

-- Collations, with those of ICU if the server has them.
CREATE FUNCTION same_in_all_collations(body text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	name name;
	same boolean;
BEGIN
	FOR name IN SELECT collname FROM pg_collation
		WHERE collname IN ('default', 'C', 'POSIX', 'ucs_basic', 'und-x-icu', 'tr-x-icu', 'de-x-icu', 'th-x-icu')
			AND collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()))
	LOOP
		EXECUTE format('SELECT to_shingles($1 COLLATE %I) = to_shingles($1)', name) INTO same USING body;
		IF NOT same THEN
			RETURN false;
		END IF;
	END LOOP;
	RETURN true;
END
$$;
SELECT same_in_all_collations(:'western'), same_in_all_collations('ISPARTA Iğdır İstanbul ısı'),
	same_in_all_collations(:'japanese');
SELECT to_shingles('ISPARTA IS' COLLATE "C") = to_shingles('isparta is' COLLATE "POSIX") AS folded;
DROP FUNCTION same_in_all_collations;

-- LATIN1.
SET client_min_messages = warning;
DROP DATABASE IF EXISTS neardup_test_latin1;
CREATE DATABASE neardup_test_latin1 TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C';
\c neardup_test_latin1
SET client_encoding = UTF8;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
CREATE EXTENSION neardup_study CASCADE;
SHOW server_encoding;
SELECT octet_length(:'western') = char_length(:'western') AS one_byte_each,
	to_shingles(:'western') = :'western_word' AS word,
	to_shingles(:'western', 'char 4') = :'western_char' AS char,
	to_shingles(string_to_array(:'western', ' ')) = :'western_tokens' AS tokens;
SELECT show_tokens(:'western');
SELECT * FROM shared_shingles(:'western', 'crème BRÛLÉE', 'word 2');
-- A text may be longer in UTF-8 than in the server's encoding.
SELECT cardinality(s), shingle_total(s) FROM to_shingles(repeat('éàü ', 500000), 'word 2') s;
-- The micro sign folds to a Greek letter: shingles have it, but it cannot be shown.
SELECT cardinality(to_shingles('5 µm'));
SELECT show_tokens('5 µm');
SELECT to_shingles('a b c', 'é 3');
-- Functions that compare or decode characters: the euro sign is not in LATIN1.
SELECT edit_distance('Crème brûlée', 'Creme brulee'), longest_common_substring('crème brûlée', 'la brûlée'), strip_markup('<p>caf&eacute; &#233;</p>');
SELECT strip_markup('5 &euro;');
\c :home
DROP DATABASE neardup_test_latin1;

-- EUC_JP: an encoding of several bytes a character.
SET client_min_messages = warning;
DROP DATABASE IF EXISTS neardup_test_euc_jp;
CREATE DATABASE neardup_test_euc_jp TEMPLATE template0 ENCODING 'EUC_JP' LC_COLLATE 'C' LC_CTYPE 'C';
\c neardup_test_euc_jp
SET client_encoding = UTF8;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
CREATE EXTENSION neardup_study CASCADE;
SHOW server_encoding;
SELECT to_shingles(:'japanese') = :'japanese_word' AS word,
	to_shingles(:'japanese', 'char 4') = :'japanese_char' AS char;
SELECT show_tokens(:'japanese');
\c :home
DROP DATABASE neardup_test_euc_jp;

-- SQL_ASCII: bytes above 0x7F have no meaning.
SELECT to_shingles('plain ASCII text: as ever', 'word 2') AS plain_word,
	to_shingles('{plain,ASCII}'::text[]) AS plain_tokens \gset
SET client_min_messages = warning;
DROP DATABASE IF EXISTS neardup_test_ascii;
CREATE DATABASE neardup_test_ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C';
\c neardup_test_ascii
SET client_encoding = UTF8;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
CREATE EXTENSION neardup_study CASCADE;
SHOW server_encoding;
SELECT to_shingles('plain ASCII text: as ever', 'word 2') = :'plain_word' AS word,
	to_shingles('{plain,ASCII}'::text[]) = :'plain_tokens' AS tokens;
SELECT show_tokens('plain ASCII text: as ever');
SELECT to_shingles(E'caf\xe9');
SELECT to_shingles(ARRAY['cafe', E'caf\xe9']);
SELECT show_tokens(E'caf\xe9');
SELECT * FROM show_shingles(E'caf\xe9');
SELECT * FROM shared_shingles('cafe', E'caf\xe9');
-- An entity is an error if the encoding lacks its character
SELECT strip_markup('<p>a &amp; b &lt;c&gt; &#65;</p>');
SELECT strip_markup('caf&eacute;');
SELECT strip_markup('caf&#xe9;');
SELECT strip_markup('caf&unknown; &eacute');
\c :home
DROP DATABASE neardup_test_ascii;
