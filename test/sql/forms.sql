-- Forms: shingles that signatures leave out, and learning them from documents.

-- ---- Leaving out -------------------------------------------------------------------

CREATE TABLE schemes (scheme text);
INSERT INTO schemes VALUES ('word 1'), ('word 3'), ('char 5'), ('anychar 3'), ('stopword 2'), ('spot 1 2');
CREATE TABLE texts (id int, body text);
INSERT INTO texts VALUES
(1, 'Title of the project: the garden of the school. Purpose of the project: to plant trees, and to plant more trees. Signature of the applicant:'),
(2, 'Title of the project: a night of music. Purpose of the project: to play, to play and to play the organ. Signature of the applicant:'),
(3, 'Something else altogether, without the form of a form.'),
(4, 'Title of the project: Purpose of the project: Signature of the applicant:'),
(5, ''),
(6, NULL);
\set form 'Title of the project: Purpose of the project: Signature of the applicant:'

-- Each shingle of the form is left out, however often it occurs; what is left keeps its frequency.
SELECT scheme, bool_and(shingle_hashes(rest)::shingles = shingle_hashes(whole)::shingles - shingle_hashes(form)::shingles) AS difference,
	bool_and(rest & whole = rest AND cardinality(rest & form) = 0 AND cardinality(rest) + cardinality(whole & form) = cardinality(whole)) AS parts,
	bool_or(shingle_total(rest) < shingle_total(whole)) AS less
FROM schemes, texts, to_shingles(:'form', scheme) AS form, to_shingles(body, scheme) AS whole, LATERAL (SELECT whole - form AS rest) r
GROUP BY scheme ORDER BY scheme;
SELECT rest, to_minhash(rest) AS nothing, to_minhash(to_shingles('') - to_shingles(:'form')) = to_minhash('') AS empty
FROM to_shingles(:'form') AS form, LATERAL (SELECT form - form AS rest) r;
SELECT whole - form FROM to_shingles('{a,a,b}'::text[]) AS whole, to_shingles('{a}'::text[]) AS form;
-- An empty set leaves out nothing; NULL gives NULL.
SELECT to_minhash(to_shingles(body) - '1/word 3/{}') = to_minhash(body) AS nothing_left_out, to_minhash(to_shingles(body) - NULL) IS NULL AS null_form FROM texts WHERE id = 1;

-- What the form does to similarity.
SELECT a.id, b.id, round(text_similarity(a.body, b.body)::numeric, 2) AS in_the_form,
	round(similarity(to_shingles(a.body) - form, to_shingles(b.body) - form)::numeric, 2) AS without
FROM texts a JOIN texts b ON a.id < b.id, to_shingles(:'form') AS form WHERE b.id < 4 ORDER BY 1, 2;
-- A signature keeps its scheme: those with and without the form can be compared.
SELECT is_comparable(to_minhash(to_shingles(body) - to_shingles(:'form')), to_minhash(body)) AS minhash,
	is_comparable(to_simhash(to_shingles(body, 'word 1') - to_shingles(:'form', 'word 1')), to_simhash(body)) AS simhash FROM texts WHERE id = 1;
SELECT to_shingles('a', 'char 5') - to_shingles('b');

-- ---- In a table ---------------------------------------------------------------

-- A function has the form, so that its next version changes one place.
CREATE FUNCTION sign_text(body text) RETURNS minhash LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$SELECT to_minhash(to_shingles(body) - to_shingles('Title of the project: Purpose of the project: Signature of the applicant:'))$$;
CREATE TABLE signed (id int PRIMARY KEY, body text, sig minhash GENERATED ALWAYS AS (sign_text(body)) STORED,
	direct minhash GENERATED ALWAYS AS (to_minhash(to_shingles(body) - to_shingles('Title of the project: Purpose of the project: Signature of the applicant:'))) STORED);
INSERT INTO signed SELECT * FROM texts WHERE id < 5;
CREATE INDEX ON signed USING neardup (sig);
CREATE INDEX ON signed USING neardup (to_minhash(to_shingles(body) - to_shingles('an index expression')));
SELECT count(*) AS same FROM signed WHERE sig = direct;
SET enable_seqscan = off;
SELECT id FROM signed WHERE is_similar(sig, sign_text('The garden of the school. To plant trees, and to plant more trees.'), 0.5);
EXPLAIN (COSTS OFF) SELECT id FROM signed WHERE is_similar(to_minhash(to_shingles(body) - to_shingles('an index expression')), to_minhash('a text'), 0.5);
SELECT id FROM signed WHERE is_similar(to_minhash(to_shingles(body) - to_shingles('an index expression')), to_minhash('Something else altogether, without the form of a form.'), 0.5);
RESET enable_seqscan;
-- The next version of the form: rows signed before stay, and are comparable.
CREATE OR REPLACE FUNCTION sign_text(body text) RETURNS minhash LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$SELECT to_minhash(to_shingles(body) - (to_shingles('Title of the project: Purpose of the project: Signature of the applicant:') |
	to_shingles('Name of the project: Aim of the project: Date and signature:')))$$;
INSERT INTO signed VALUES (7, 'Name of the project: the garden of the school. Aim of the project: to plant trees, and to plant more trees. Date and signature:');
SELECT a.id, b.id, similarity(a.sig, b.sig) > 0.4 AS found, text_similarity(a.body, b.body) > 0.4 AS with_the_forms FROM signed a JOIN signed b ON a.id < b.id WHERE b.id = 7 ORDER BY 1;
DROP TABLE signed;
DROP FUNCTION sign_text;

-- ---- Learning a form ------------------------------------------------------------

-- Few documents: exact.
CREATE TABLE answers AS SELECT i AS id, 'Title of the project: w' || i || ' v' || i || ' u' || i || ' Purpose of the project: x' || i || ' y' || i || ' z' || i ||
	CASE WHEN i % 4 = 0 THEN ' With an annex to it' ELSE '' END || CASE WHEN i % 8 = 0 THEN ' And a letter' ELSE '' END AS body FROM generate_series(1, 40) i;
SELECT share, array_agg(shingle ORDER BY shingle COLLATE "C") FROM unnest('{1,0.3,0.25,0.2}'::float8[]) AS share,
	LATERAL (SELECT DISTINCT shingle FROM answers, show_shingles(body) WHERE ARRAY[hash] <@ shingle_hashes(neardup_common_shingles('SELECT body FROM answers', share))) s
GROUP BY share ORDER BY share DESC;
SELECT neardup_common_shingles('SELECT body FROM answers', 1) = to_shingles('Title of the project') | to_shingles('Purpose of the project') AS form,
	to_minhash(to_shingles(body) - neardup_common_shingles('SELECT body FROM answers', 0.2)) = to_minhash(to_shingles(body) - (to_shingles('Title of the project') | to_shingles('Purpose of the project') | to_shingles('With an annex to it'))) AS learned
FROM answers WHERE id = 4;
-- All frequencies are 1; NULLs do not count, empty texts do; other types of text; other schemes; sets.
SELECT shingle_total(s) AS total, cardinality(s) AS distinct FROM neardup_common_shingles('SELECT ''a b a b a b'' FROM answers', 0.2) AS s;
SELECT cardinality(neardup_common_shingles('SELECT CASE WHEN id <= 20 THEN body END FROM answers', 0.9)) AS nulls, cardinality(neardup_common_shingles('SELECT CASE WHEN id <= 20 THEN body ELSE '''' END FROM answers', 0.9)) AS empty;
CREATE DOMAIN prose AS varchar(1000);
CREATE VIEW one_column AS SELECT body::prose FROM answers;
SELECT neardup_common_shingles('TABLE one_column', 0.5, 'char 4') = neardup_common_shingles('SELECT body FROM answers -- all;', 0.5, 'char 4') AS same,
	neardup_common_shingles('SELECT to_shingles(body, ''char 4'') FROM answers;', 0.5) = neardup_common_shingles('SELECT body FROM answers', 0.5, 'char 4') AS sets;
SELECT neardup_common_shingles('SELECT body FROM answers WHERE false', 0.2) AS no_rows, neardup_common_shingles('SELECT NULL::text FROM answers', 0.2) AS nulls, neardup_common_shingles('SELECT '''' FROM answers', 0.2) AS empty;
SELECT neardup_common_shingles(NULL);
-- Few documents
SELECT neardup_common_shingles('SELECT body FROM answers WHERE id = 4', 0.2), cardinality(neardup_common_shingles('SELECT body FROM answers WHERE id < 5', 0.2));

-- Many documents, with shingles of every frequency: rare ones are forgotten on the way.
CREATE TABLE many AS SELECT i AS id, (SELECT string_agg('w' || w, ' ') FROM generate_series(1, 200) w WHERE hashint4(i * 1000 + w) & 1023 < 1024 * w / 400) || ' own' || i AS body
FROM generate_series(1, 1500) i;
CREATE TABLE frequencies AS SELECT * FROM neardup_frequencies('SELECT to_shingles(body, ''word 1'') FROM many');
CREATE TABLE learned AS SELECT share, neardup_common_shingles('SELECT body FROM many', share, 'word 1') AS form FROM unnest('{0.02,0.1,0.2,0.35,0.5}'::float8[]) AS share;
SELECT share, count(*) FILTER (WHERE df >= share * 1500) AS common, bool_and(learned) FILTER (WHERE df >= share * 1500) AS all_found, bool_or(learned) FILTER (WHERE df < 0.95 * share * 1500) AS others
FROM learned, LATERAL (SELECT df, ARRAY[shingle] <@ shingle_hashes(form) AS learned FROM frequencies) f GROUP BY share ORDER BY share;
-- The sample is always the same, of the whole table, and of so many rows.
SELECT neardup_common_shingles('SELECT body FROM many', 0.4, 'word 1', 300) = neardup_common_shingles('SELECT body FROM many', 0.4, 'word 1', 300) AS same,
	neardup_common_shingles('SELECT body FROM many', 0.4, 'word 1', 300) = neardup_common_shingles('SELECT body FROM many ORDER BY id DESC', 0.4, 'word 1', 300) AS other_order,
	neardup_common_shingles('SELECT body FROM many', 0.4, 'word 1', 1500) = neardup_common_shingles('SELECT body FROM many', 0.4, 'word 1') AS all_rows;
SELECT cardinality(neardup_common_shingles('SELECT ''part'' || (id - 1) / 100 FROM many', 0.03, 'word 1', 900)) AS parts_of_15;

-- ---- What a change of the answers does, with the form, without it, and without what is learned of it ----

CREATE FUNCTION filled(answers text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT format('What do you want to do? Describe the project in plain words, so that somebody who does not know your field understands it.
%s
Where and when will it take place? Name the place, the first day and the last day.
%s
What does it cost? State the whole sum, what you ask of the fund, and what others give.
%s
How will you know that it has worked? Name what you will count, and whom you will ask.
%s
We declare that this information is complete and correct, that nobody else pays for the same work, and that the fund may publish our name, the title and the sum.', VARIADIC answers) $$;
CREATE TABLE proposals (id int, title text, answers text[]);
INSERT INTO proposals VALUES
(1, 'A path along the river', ARRAY[
 'We want to plant 200 trees along the north bank of the river and to build a path for walkers and cyclists beside them, from the old station to the harbour. The trees will be native willows, alders and black poplars, raised by the pupils of the primary school. The path will be 3 metres wide, surfaced with gravel from the quarry nearby, and lit by 40 lamps that switch on only when somebody passes.',
 'The bank belongs to the town, which has agreed. We begin on 1 March 2026, after the floods, and the path opens on 30 November 2027. Volunteers will water the trees for the first 3 summers.',
 'The whole costs 62,000, of which 18,000 is for the gravel, 12,000 for the lamps and the rest for the trees, the stakes and the tools. We ask the fund for 40,000; the town gives 15,000, and the harbour company 7,000.',
 'We will count walkers and cyclists at the bridge on 10 days before the path opens and on 10 days after, and count in October of each year how many of the trees live.']),
(2, 'Reading afternoons', ARRAY[
 'Every Wednesday afternoon two volunteers will read to children between 4 and 8 years old, in German and in another language that is spoken in the town. The children choose the books, and take one of them home.',
 'The reading room of the town library, from the first week of September to the last week of June.',
 'Books in 9 languages cost 1,800, cushions 400, and the training of 12 volunteers 800. We ask the fund for all of the 3,000.',
 'We will count the children, and ask their teachers in June whether they read more.']);
INSERT INTO proposals SELECT i, 'Project ' || i, ARRAY(
	SELECT string_agg('w' || (hashint4(i * 1000 + a * 100 + j) & 4095), ' ' ORDER BY j) FROM generate_series(1, 4) a, generate_series(1, 25) j GROUP BY a ORDER BY a)
FROM generate_series(4, 40) i;
CREATE FUNCTION changed(answers text[], change text) RETURNS text[] LANGUAGE sql AS $$
SELECT array_agg(CASE change WHEN 'numbers' THEN translate(answer, '0123456789', '1234567890')
	ELSE (SELECT string_agg(word, ' ' ORDER BY w) FROM regexp_split_to_table(answer, '\s+') WITH ORDINALITY AS t(word, w) WHERE w % 8 <> 0) END ORDER BY n)
FROM unnest(answers) WITH ORDINALITY AS t(answer, n) $$;
CREATE TABLE changes AS
SELECT c.* FROM proposals r, proposals l, LATERAL (VALUES
	(1, 'another title', 'Willows for everyone', r.answers),
	(2, 'all numbers changed', r.title, changed(r.answers, 'numbers')),
	(3, 'every eighth word dropped', r.title, changed(r.answers, 'words')),
	(4, 'half copied, under another title', 'Trees for the town', ARRAY[r.answers[1], l.answers[1], r.answers[2] , l.answers[3] || l.answers[2] || l.answers[4]]),
	(5, 'another proposal in the same form', l.title, l.answers)) AS c (n, change, title, answers)
WHERE r.id = 1 AND l.id = 2;
SELECT cardinality(learned) AS learned, round(containment(to_shingles(filled('{"","","",""}')), learned)::numeric, 2) AS of_the_form
FROM neardup_common_shingles('SELECT filled(answers) FROM proposals', 0.2) AS learned;
SELECT change, round(similarity(to_minhash(p.title || E'\n' || filled(p.answers)), to_minhash(c.title || E'\n' || filled(c.answers)))::numeric, 2) AS title_and_form,
	round(similarity(to_minhash(to_shingles(filled(p.answers)) - form), to_minhash(to_shingles(filled(c.answers)) - form))::numeric, 2) AS answers_alone,
	round(similarity(to_minhash(to_shingles(filled(p.answers)) - learned), to_minhash(to_shingles(filled(c.answers)) - learned))::numeric, 2) AS learned
FROM changes c, proposals p, to_shingles(filled('{"","","",""}')) AS form, neardup_common_shingles('SELECT filled(answers) FROM proposals', 0.2) AS learned WHERE p.id = 1 ORDER BY n;

-- Errors
\set SHOW_CONTEXT never
-- By default, a twentieth: each of eight forms among 800 texts is found, and no text of its own.
SELECT cardinality(learned) AS learned, cardinality(learned & to_shingles(string_agg(format('form%1$s begin%1$s here%1$s and%1$s', f), '. '))) AS of_forms
FROM neardup_common_shingles('SELECT format(''form%1$s begin%1$s here%1$s and%1$s %2$s %3$s %4$s own text'', id % 8, md5(id::text), md5((id + 1)::text), md5((id + 2)::text)) FROM generate_series(1, 800) AS id') AS learned,
	generate_series(0, 7) AS f GROUP BY learned;
SELECT neardup_common_shingles('SELECT id FROM answers');
SELECT neardup_common_shingles('SELECT body, id FROM answers');
SELECT neardup_common_shingles('SELECT FROM answers');
SELECT neardup_common_shingles('SELECT body FROM answers; SELECT 1');
SELECT neardup_common_shingles('DELETE FROM answers RETURNING body');
SELECT neardup_common_shingles('SELECT body FROM answers FOR UPDATE');
SELECT neardup_common_shingles('SELECT body FROM nowhere');
SELECT neardup_common_shingles('SELECT to_shingles(body, CASE WHEN id < 30 THEN ''word 2'' ELSE ''word 3'' END) FROM answers');
SELECT neardup_common_shingles('SELECT body FROM answers', 0);
SELECT neardup_common_shingles('SELECT body FROM answers', 'nan');
SELECT neardup_common_shingles('SELECT body FROM answers', 20);
SELECT neardup_common_shingles('SELECT body FROM answers', scheme => 'tokens');
SELECT neardup_common_shingles('SELECT body FROM answers', sample => 0);
-- It can be cancelled, and leaves no setting behind.
BEGIN;
SET LOCAL statement_timeout = '100ms';
SELECT neardup_common_shingles('SELECT repeat(md5(i::text) || '' '', 100) FROM generate_series(1, 1000000) i', sample => 1000000);
ROLLBACK;
SHOW synchronize_seqscans;

DROP VIEW one_column;
DROP DOMAIN prose;
DROP TABLE texts, schemes, answers, many, frequencies, learned, proposals, changes;
DROP FUNCTION filled, changed;
