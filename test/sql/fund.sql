-- doc/fund.md, run: how a fund keeps resubmissions out.
SET client_min_messages = warning;
CREATE ROLE regress_clerk;
CREATE ROLE regress_committee;
RESET client_min_messages;

-- ---- The table ----

CREATE TABLE proposals (
    number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    received  date NOT NULL DEFAULT current_date,
    applicant text NOT NULL,
    title     text NOT NULL,
    body      text NOT NULL,
    sig       minhash GENERATED ALWAYS AS (to_minhash(title || E'\n' || body)) STORED
);
CREATE INDEX ON proposals USING neardup (sig);

-- 0.9 and more: the same proposal again
CREATE CONSTRAINT TRIGGER no_resubmission
    AFTER INSERT OR UPDATE ON proposals FOR EACH ROW
    EXECUTE FUNCTION neardup_reject('sig', '0.9', 'lock',
        'message=This proposal has been submitted before.',
        'hint=Please open the earlier proposal, whose number is given above, and add to it what is new.');

-- 0.6 to 0.9: somebody has to look
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
    EXECUTE FUNCTION neardup_reject('sig', '0.6', 'log=review_queue');

GRANT SELECT (number, received, applicant, title, body), INSERT (applicant, title, body) ON proposals TO regress_clerk;
GRANT SELECT ON proposals TO regress_committee;
GRANT SELECT, UPDATE (decision) ON review_queue TO regress_committee;

-- ---- The clerk ----

SET ROLE regress_clerk;
INSERT INTO proposals (applicant, title, body) VALUES
('Riverside Association', 'A path along the river',
 'We want to plant two hundred trees along the north bank of the river and to build a path for walkers and
  cyclists beside them, from the old station to the harbour. The trees will be native willows, alders and
  black poplars, raised by the pupils of the primary school. The path will be three metres wide, surfaced
  with gravel from the quarry nearby, and lit by lamps that switch on only when somebody passes. Volunteers
  will water the trees for the first three summers. We ask for forty thousand, of which half is for the
  gravel and the lamps and half for the trees, the stakes and the tools.'),
('Friends of the Library', 'Reading afternoons',
 'Every Wednesday afternoon two volunteers will read to children between four and eight years old in the
  reading room of the town library, in German and in another language that is spoken in the town. We ask for
  three thousand a year for books in nine languages, for cushions, and for the training of the volunteers.');

-- The same again, in another file format: capitals, line breaks and punctuation differ
INSERT INTO proposals (applicant, title, body) VALUES
('Riverside Assoc.', 'A Path Along The River',
 'We want to plant two hundred trees along the north bank of the river -- and to build a path for walkers and cyclists beside them, from the old station to the harbour. The trees will be native willows, alders & black poplars, raised by the pupils of the Primary School. The path will be three metres wide, surfaced with gravel from the quarry nearby, and lit by lamps that switch on only when somebody passes. Volunteers will water the trees for the first three summers. We ask for forty thousand, of which half is for the gravel and the lamps and half for the trees, the stakes and the tools.');

-- A revision: less money, another end, no lamps
INSERT INTO proposals (applicant, title, body) VALUES
('Riverside Association', 'A path along the river',
 'We want to plant two hundred trees along the north bank of the river and to build a path for walkers and
  cyclists beside them, from the old station to the mill. The trees will be native willows, alders and
  black poplars, raised by the pupils of the primary school. The path will be three metres wide, surfaced
  with gravel from the quarry nearby. Volunteers
  will water the trees for the first three summers. We ask for thirty thousand, of which half is for the
  gravel and half for the trees, the stakes and the tools.');
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
 WHERE n.number = 4 AND e.number = 1 AND token <> ALL (show_tokens(e.body)) ORDER BY place;

UPDATE review_queue SET decision = 'different' WHERE (row_key, resembles) = (4, 1);
RESET ROLE;

-- ---- Last year's proposals ----

CREATE TABLE last_year (id int PRIMARY KEY, applicant text, title text, body text,
    sig minhash GENERATED ALWAYS AS (to_minhash(title || E'\n' || body)) STORED);
INSERT INTO last_year SELECT 1, applicant, title, body FROM proposals WHERE number = 2;
INSERT INTO last_year VALUES
(2, 'Cycling Club', 'Repair days', 'Four times a year we repair bicycles in the market square, for everybody and for nothing, and show how it is done. We ask for eight hundred for spare parts.'),
(3, 'Cycling Club', 'Repair days!', 'Four times a year we repair bicycles in the market square, for everybody and for nothing, and show how it is done. We ask for eight hundred for spare parts.');

-- Only those that the triggers would not refuse
INSERT INTO proposals (applicant, title, body)
SELECT applicant, title, body FROM last_year l
 WHERE NOT EXISTS (SELECT FROM proposals p WHERE is_similar(p.sig, l.sig, 0.9))
   AND NOT EXISTS (SELECT FROM last_year k WHERE is_similar(k.sig, l.sig, 0.9) AND k.id < l.id);

SELECT number, applicant, title FROM proposals ORDER BY number;

SELECT a.number, b.number, similarity(a.sig, b.sig) FROM proposals a
  JOIN proposals b ON is_similar(a.sig, b.sig, 0.5) AND a.number < b.number ORDER BY 3 DESC;

DROP TABLE review_queue, proposals, last_year;
DROP ROLE regress_clerk;
DROP ROLE regress_committee;
