-- doc/tutorials/fund.md, run: how a fund keeps resubmissions out.
SET client_min_messages = warning;
CREATE ROLE regress_clerk;
CREATE ROLE regress_committee;
RESET client_min_messages;

-- How applicants fill in the form.
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

-- ---- The form ----

CREATE FUNCTION form_2026() RETURNS shingles LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT public.to_shingles('What do you want to do? Describe the project in plain words, so that
        somebody who does not know your field understands it.
        Where and when will it take place? Name the place, the first day and the last day.
        What does it cost? State the whole sum, what you ask of the fund, and what others give.
        How will you know that it has worked? Name what you will count, and whom you will ask.
        We declare that this information is complete and correct, that nobody else pays for the
        same work, and that the fund may publish our name, the title and the sum.') $$;
CREATE FUNCTION sign_proposal(body text) RETURNS minhash LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT public.to_minhash(body, minus => public.form_2026()) $$;

-- ---- The table ----

CREATE TABLE proposals (
    number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    received  date NOT NULL DEFAULT current_date,
    applicant text NOT NULL,
    title     text NOT NULL,
    body      text NOT NULL,
    sig       minhash GENERATED ALWAYS AS (sign_proposal(body)) STORED
);
CREATE INDEX ON proposals USING neardup (sig);

-- 0.7 and more: the same proposal again
CREATE CONSTRAINT TRIGGER no_resubmission
    AFTER INSERT OR UPDATE ON proposals FOR EACH ROW
    EXECUTE FUNCTION neardup_reject('sig', '0.7', 'lock',
        'message=This proposal has been submitted before.',
        'hint=Please open the earlier proposal, whose number is given above, and add to it what is new.');

-- 0.3 to 0.7: somebody has to look
CREATE TABLE review_queue (
    row_key    bigint NOT NULL REFERENCES proposals ON DELETE CASCADE,
    resembles  bigint NOT NULL REFERENCES proposals ON DELETE CASCADE,
    similarity float8 NOT NULL,
    noticed_at timestamptz NOT NULL,
    noticed_by text NOT NULL,
    decision   text NOT NULL DEFAULT 'open' CHECK (decision IN ('open', 'same', 'different')),
    PRIMARY KEY (row_key, resembles)
);
CREATE CONSTRAINT TRIGGER queue_for_review
    AFTER INSERT OR UPDATE ON proposals FOR EACH ROW
    EXECUTE FUNCTION neardup_reject('sig', '0.3', 'log=review_queue');

GRANT SELECT (number, received, applicant, title, body), INSERT (applicant, title, body) ON proposals TO regress_clerk;
GRANT SELECT ON proposals TO regress_committee;
GRANT SELECT, UPDATE (decision) ON review_queue TO regress_committee;

-- ---- The clerk ----

SET ROLE regress_clerk;
INSERT INTO proposals (applicant, title, body) VALUES
('Riverside Association', 'A path along the river', filled(ARRAY[
 'We want to plant 200 trees along the north bank of the river and to build a path for walkers and
  cyclists beside them, from the old station to the harbour. The trees will be native willows, alders and
  black poplars, raised by the pupils of the primary school. The path will be 3 metres wide, surfaced
  with gravel from the quarry nearby, and lit by 40 lamps that switch on only when somebody passes.',
 'The bank belongs to the town, which has agreed. We begin on 1 March 2026, after the floods, and the path
  opens on 30 November 2027. Volunteers will water the trees for the first 3 summers.',
 'The whole costs 62,000, of which 18,000 is for the gravel, 12,000 for the lamps and the rest for the
  trees, the stakes and the tools. We ask the fund for 40,000; the town gives 15,000, and the harbour
  company 7,000.',
 'We will count walkers and cyclists at the bridge on 10 days before the path opens and on 10 days after,
  and count in October of each year how many of the trees live.'])),
('Friends of the Library', 'Reading afternoons', filled(ARRAY[
 'Every Wednesday afternoon two volunteers will read to children between 4 and 8 years old, in German and
  in another language that is spoken in the town. The children choose the books, and take one of them home.',
 'The reading room of the town library, from the first week of September to the last week of June.',
 'Books in 9 languages cost 1,800, cushions 400, and the training of 12 volunteers 800. We ask the fund for
  all of the 3,000.',
 'We will count the children, and ask their teachers in June whether they read more.']));

-- The same again, under another title, in another file format: capitals, line breaks and punctuation differ
INSERT INTO proposals (applicant, title, body)
SELECT 'Riverside Assoc.', 'Willows for everyone', replace(replace(upper(body), E'\n', ' '), ', and ', ' -- and ') FROM proposals WHERE number = 1;

-- The same with another budget, a year later
INSERT INTO proposals (applicant, title, body)
SELECT applicant, title, replace(replace(replace(replace(replace(body, '62,000', '71,500'), '40,000', '48,000'), '15,000', '16,500'), '2027', '2028'), '2026', '2027')
  FROM proposals WHERE number = 1;

-- A revision: another end, less wide, no lamps
INSERT INTO proposals (applicant, title, body) VALUES
('Riverside Association', 'A path along the river', filled(ARRAY[
 'We want to plant 120 trees along the north bank of the river and to build a path for walkers and
  cyclists beside them, from the old station to the mill. The trees will be native willows, alders and
  black poplars, raised by the pupils of the primary school. The path will be 2 metres wide, surfaced
  with gravel from the quarry nearby.',
 'The bank belongs to the town, which has agreed. We begin on 15 March 2027, after the floods, and the path
  opens on 1 October 2027. Volunteers will water the trees for the first 3 summers.',
 'The whole costs 31,000, of which 14,000 is for the gravel and the rest for the
  trees, the stakes and the tools. We ask the fund for 20,000; the town gives 11,000.',
 'We will count walkers and cyclists at the bridge on 10 days before the path opens and on 10 days after.']));
-- What the application shows to the clerk
DO $$
DECLARE
    message text; detail text; hint text;
BEGIN
    INSERT INTO proposals (applicant, title, body)
    SELECT 'J. Smith', title, body FROM proposals WHERE number = 2;
EXCEPTION WHEN exclusion_violation THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RAISE NOTICE E'%\n%\n%', message, detail, hint;
END $$;
RESET ROLE;

-- ---- The committee ----

SET ROLE regress_committee;
SELECT q.row_key AS new, n.applicant, n.title, q.resembles AS earlier, round(q.similarity::numeric, 2) AS similarity, q.decision
  FROM review_queue q
  JOIN proposals n ON n.number = q.row_key
 WHERE decision = 'open'
 ORDER BY q.similarity DESC;

-- What is new in it
SELECT token FROM proposals n, proposals e, unnest(show_tokens(n.body)) WITH ORDINALITY AS t(token, place)
 WHERE n.number = 5 AND e.number = 1 AND token <> ALL (show_tokens(e.body)) ORDER BY place;

UPDATE review_queue SET decision = 'different' WHERE (row_key, resembles) = (5, 1);
RESET ROLE;

-- ---- What is found ----

CREATE TABLE answers AS
SELECT title, ARRAY(SELECT btrim(part, E' \n') FROM regexp_split_to_table(body, '(^|\n)(What do|Where and|What does|How will|We declare) [^\n]*(\n|$)') AS part WHERE part <> '') AS answers
  FROM proposals WHERE number < 3;
CREATE FUNCTION changed(answers text[], change text) RETURNS text[] LANGUAGE sql AS $$
SELECT array_agg(CASE change WHEN 'numbers' THEN translate(answer, '0123456789', '1234567890')
	ELSE (SELECT string_agg(word, ' ' ORDER BY w) FROM regexp_split_to_table(answer, '\s+') WITH ORDINALITY AS t(word, w) WHERE w % 8 <> 0) END ORDER BY n)
FROM unnest(answers) WITH ORDINALITY AS t(answer, n) $$;
CREATE TABLE changes AS
SELECT c.* FROM answers r, answers l, LATERAL (VALUES
	(1, 'another title', 'Willows for everyone', r.answers),
	(2, 'another budget and duration', r.title, ARRAY[r.answers[1], replace(replace(r.answers[2], '2027', '2028'), '2026', '2027'),
		replace(replace(replace(r.answers[3], '62,000', '71,500'), '40,000', '48,000'), '15,000', '16,500'), r.answers[4]]),
	(3, 'all numbers changed', r.title, changed(r.answers, 'numbers')),
	(4, 'every eighth word dropped', r.title, changed(r.answers, 'words')),
	(5, 'half copied, under another title', 'Trees for the town', ARRAY[r.answers[1], l.answers[1], r.answers[2] , l.answers[3] || l.answers[2] || l.answers[4]]),
	(6, 'another proposal in the same form', l.title, l.answers)) AS c (n, change, title, answers)
WHERE r.title = 'A path along the river' AND l.title = 'Reading afternoons';
SELECT change, round(similarity(to_minhash(p.title || E'\n' || p.body), to_minhash(c.title || E'\n' || filled(answers)))::numeric, 2) AS title_and_form,
	round(similarity(p.sig, sign_proposal(filled(answers)))::numeric, 2) AS answers_alone
  FROM changes c, proposals p WHERE p.number = 1 ORDER BY n;
-- Two short proposals
SELECT round(similarity(to_minhash(a), to_minhash(b))::numeric, 2) AS with_the_form, round(similarity(sign_proposal(a), sign_proposal(b))::numeric, 2) AS answers_alone
FROM filled('{"We repair bicycles for everybody and show how it is done.","The market square, four times a year.","We ask for 800 for spare parts.","We will count the bicycles."}') AS a,
	filled('{"Whoever likes to sing can come, and nobody has to read music.","The hall of St Mary''s, on Monday evenings.","We ask for 600 for the rent of the hall.","We will ask the singers."}') AS b;

-- ---- Learning the form ----

CREATE TABLE last_year (id int PRIMARY KEY, applicant text, title text, body text,
    sig minhash GENERATED ALWAYS AS (sign_proposal(body)) STORED);
INSERT INTO last_year SELECT 1, applicant, title, body FROM proposals WHERE number = 2;
INSERT INTO last_year SELECT 1 + n, 'Cycling Club', title, filled(ARRAY['Four times a year we repair bicycles for everybody and for nothing, and show how it is done.',
 'In the market square, in April, June, August and October.', 'We ask for 800 for spare parts and for two stands.', 'We count the bicycles that leave on their own wheels.'])
FROM (VALUES (1, 'Repair days'), (2, 'Repair days!')) AS t (n, title);
INSERT INTO last_year SELECT i, 'Applicant ' || i, 'Project ' || i, filled(ARRAY(
	SELECT string_agg('w' || (hashint4(i * 1000 + a * 100 + j) & 4095), ' ' ORDER BY j) FROM generate_series(1, 4) a, generate_series(1, 25) j GROUP BY a ORDER BY a))
FROM generate_series(4, 40) i;

SELECT cardinality(learned) AS learned, round(containment(form_2026(), learned)::numeric, 2) AS of_the_form
  FROM common_shingles('SELECT body FROM last_year', share => 0.2) AS learned;

SELECT shingle FROM common_shingles('SELECT body FROM last_year') AS learned, last_year, show_shingles(body)
 WHERE id = 1 AND ARRAY[hash] <@ shingle_hashes(learned) LIMIT 3;

\set ECHO none
SELECT format('CREATE FUNCTION form_learned() RETURNS shingles LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $f$ SELECT %L::public.shingles $f$',
              common_shingles('SELECT body FROM last_year')) \gexec
\set ECHO all

SELECT change, round(similarity(to_minhash(p.body, minus => form_learned()), to_minhash(filled(answers), minus => form_learned()))::numeric, 2) AS learned
  FROM changes c, proposals p WHERE p.number = 1 ORDER BY n;

-- Only those that the triggers would not refuse
INSERT INTO proposals (applicant, title, body)
SELECT applicant, title, body FROM last_year l
 WHERE NOT EXISTS (SELECT FROM proposals p WHERE is_similar(p.sig, l.sig, 0.7))
   AND NOT EXISTS (SELECT FROM last_year k WHERE is_similar(k.sig, l.sig, 0.7) AND k.id < l.id);

SELECT number, applicant, title FROM proposals WHERE applicant NOT LIKE 'Applicant%' ORDER BY number;
SELECT count(*) FROM proposals;

-- ---- The next form ----

CREATE FUNCTION form_2027() RETURNS shingles LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT public.to_shingles('Your project in short. Where and when does it take place, and who takes part?
        The whole sum in euros, and what you ask of us. What will you count? By signing you agree
        that we publish the title of your project, your name and the sum.') $$;
CREATE OR REPLACE FUNCTION sign_proposal(body text) RETURNS minhash LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT public.to_minhash(body, minus => public.form_2026() | public.form_2027()) $$;

-- The first proposal again, in the next form: refused
INSERT INTO proposals (applicant, title, body)
SELECT 'Riverside Association', 'Willows', format('Your project in short. %s Where and when does it take place, and who takes part? %s The whole sum in euros, and what you ask of us. %s What will you count? %s By signing you agree that we publish the title of your project, your name and the sum.', VARIADIC answers)
  FROM changes WHERE n = 1;
-- Rows signed before differ from what the new function gives by less than the signature's error.
SELECT max(1 - similarity(sig, sign_proposal(body))) < 0.02 AS nearly_the_same FROM proposals;

-- ---- Thresholds ----

SELECT a.number, b.number, similarity(a.sig, b.sig) FROM proposals a
  JOIN proposals b ON is_similar(a.sig, b.sig, 0.2) AND a.number < b.number ORDER BY 3 DESC;

SELECT number, title FROM proposals WHERE cardinality(sig) < 30;

DROP TABLE review_queue, proposals, last_year, answers, changes;
DROP FUNCTION sign_proposal, form_2026, form_2027, form_learned, filled, changed;
DROP ROLE regress_clerk;
DROP ROLE regress_committee;
