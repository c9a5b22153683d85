-- Measures all methods on the table "documents".  The variable "collection" names it.

SET client_min_messages = warning;
SET work_mem = '64MB';
\o /dev/null
ALTER TABLE results ALTER collection SET DEFAULT :'collection';
ANALYZE documents;
CALL make_aids();
CALL make_cosines();

SELECT measure(1, '`word 3`, Jaccard', $$to_shingles(body)$$, 'similarity(a.sig, b.sig)');
SELECT measure(2, '`word 3`, containment, the greater of both', $$to_shingles(body)$$, 'greatest(containment(a.sig, b.sig), containment(b.sig, a.sig))');
SELECT measure(3, '`word 1`, Jaccard', $$to_shingles(body, 'word 1')$$, 'similarity(a.sig, b.sig)');
SELECT measure(4, '`word 1`, containment, the greater of both', $$to_shingles(body, 'word 1')$$, 'greatest(containment(a.sig, b.sig), containment(b.sig, a.sig))');
SELECT measure(5, '`char 3`, Jaccard', $$to_shingles(body, 'char 3')$$, 'similarity(a.sig, b.sig)');
SELECT measure(6, '`char 5`, Jaccard', $$to_shingles(body, 'char 5')$$, 'similarity(a.sig, b.sig)');
SELECT measure(7, '`stopword 3`, Jaccard', $$to_shingles(body, 'stopword 3')$$, 'similarity(a.sig, b.sig)');
SELECT measure(8, '`spot 1 2`, weighted Jaccard', $$to_shingles(body, 'spot 1 2')$$, 'weighted_jaccard(a.sig, b.sig)');
SELECT measure(9, '`spot 1 2`, antecedents of the paper''s example', $$to_shingles(body, 'spot 1 2', '{a,an,the,is}')$$, 'weighted_jaccard(a.sig, b.sig)');
SELECT measure(10, '`spot 1 2`, frequent words of the texts', $$to_shingles(body, 'spot 1 2', ten_words, fifty_words)$$, 'weighted_jaccard(a.sig, b.sig)');
SELECT measure(11, 'minhash(512, 1) of `word 3`', $$to_minhash(body)$$, 'similarity(a.sig, b.sig)');
SELECT measure(12, 'minhash(512, 1) of `word 1`', $$to_minhash(body, scheme => 'word 1')$$, 'similarity(a.sig, b.sig)');
SELECT measure(13, 'minhash(512, 1) of `char 3`', $$to_minhash(body, scheme => 'char 3')$$, 'similarity(a.sig, b.sig)');
SELECT measure(14, 'minhash(512, 1) of `spot 1 2`', $$to_minhash(body, scheme => 'spot 1 2')$$, 'similarity(a.sig, b.sig)');
SELECT measure(15, 'bottom 128 of `word 3`', $$shingles_bottom(to_shingles(body), 128)$$, 'bottom_resemblance(a.sig, b.sig, 128)');

SELECT EXISTS (SELECT FROM pg_proc WHERE proname = 'neardup_common_shingles') AS has_forms,
	EXISTS (SELECT FROM pg_proc WHERE proname = 'neardup_lexicon') AS has_lexicons,
	EXISTS (SELECT FROM pg_proc WHERE proname = 'neardup_advise') AS has_advice \gset

-- A form is subtracted: its text, or what a fifth of the texts have in common.
\if :has_forms
\if :{?form}
ALTER TABLE aids ADD form shingles DEFAULT to_shingles('');
UPDATE aids SET form = to_shingles(form.body) FROM form WHERE variant = 'framed';
SELECT measure(16, 'minhash(512, 1) of `word 3` minus the form', $$to_minhash(to_shingles(body) - form)$$, 'similarity(a.sig, b.sig)');
\endif
ALTER TABLE aids ADD common shingles;
UPDATE aids SET common = neardup_common_shingles(format('SELECT body FROM documents WHERE variant = %L', variant), share => 0.2);
SELECT measure(17, '`word 3` minus common shingles, Jaccard', $$to_shingles(body) - common$$, 'similarity(a.sig, b.sig)');
SELECT measure(18, 'minhash(512, 1) of `word 3` minus common shingles', $$to_minhash(to_shingles(body) - common)$$, 'similarity(a.sig, b.sig)');
\endif

-- Words weigh what their rarity says.
\if :has_lexicons
ALTER TABLE aids ADD words shingle_lexicon;
UPDATE aids SET words = neardup_lexicon(format('SELECT body FROM documents WHERE variant = %L', variant));
SELECT measure(19, '`word 1` weighted by a lexicon, weighted Jaccard', $$weigh(to_shingles(body, 'word 1'), words)$$, 'weighted_jaccard(a.sig, b.sig)');
SELECT measure(20, 'minhash(512, 1) of `word 1` weighted by a lexicon', $$to_minhash(body, lexicon => words)$$, 'similarity(a.sig, b.sig)');
\endif

-- The scheme and the threshold that neardup_advise finds, and without common shingles if it finds a form.
\if :has_advice
ALTER TABLE aids ADD scheme text, ADD threshold_found float8, ADD form_found boolean, ADD left_out shingles;
UPDATE aids SET scheme = substring(advice_on(variant, 'ADVICE: scheme') FROM '^\w+ \d+'),
	form_found = advice_on(variant, 'form') NOT LIKE 'none%';
UPDATE aids SET threshold_found = substring(advice_on(variant, 'ADVICE: threshold', scheme) FROM '^[0-9.]+')::float8,
	left_out = CASE WHEN form_found THEN neardup_common_shingles(format('SELECT body FROM documents WHERE variant = %L', variant), share => 0.2, scheme => scheme)
					ELSE to_shingles('', scheme) END;
SELECT measure(21, 'as `neardup_advise` says, Jaccard', $$to_shingles(body) - left_out$$, 'similarity(a.sig, b.sig)',
	advice => 'threshold_found');
\endif

-- Methods from 30 on do not estimate a resemblance, so no threshold is advised for them.
SELECT measure(30, 'same text (digest of the tokens)', $$sha256(convert_to(array_to_string(show_tokens(body), ' '), 'UTF8'))$$, '(a.sig = b.sig)::int');
SELECT measure(31, 'simhash(64) of `word 1`', $$to_simhash(body, scheme => 'word 1')$$, 'similarity(a.sig, b.sig)');
SELECT measure(32, 'simhash(256) of `word 3`', $$to_simhash(body, 256)$$, 'similarity(a.sig, b.sig)');
SELECT measure(33, '6 supershingles of 14 minima', $$minhash_bands(to_minhash(body, 84, 32), 14)$$, 'shared(a.sig, b.sig)');
SELECT measure(34, 'I-Match, idf 0.3 to 0.6', $$imatch(neardup_idf_filter(to_shingles(body, 'word 1'), 'frequencies', 0.3, 0.6))$$, '(a.sig = b.sig)::int', 'word 1');
SELECT measure(35, 'I-Match-S, idf 0.6 to 0.82', $$imatch(neardup_idf_filter(to_shingles(body, 'spot 1 2'), 'frequencies', 0.6, 0.82))$$, '(a.sig = b.sig)::int', 'spot 1 2');
SELECT measure(36, 'tf·idf cosine of `word 1`', $$to_shingles(body, 'word 1')$$,
	$$(SELECT product / x.norm / y.norm FROM cosines c, norms x, norms y WHERE (c.variant, c.a, c.b) = (v, a.id, b.id)
		  AND (x.variant, x.id) = (v, a.id) AND (y.variant, y.id) = (v, b.id))$$);
\o
