CREATE EXTENSION IF NOT EXISTS neardup;
CREATE TABLE proposals (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title text,
    body  text NOT NULL,
    sig   minhash GENERATED ALWAYS AS (to_minhash(body)) STORED
);
SELECT neardup_guard('proposals', 'sig', 0.5, name => 'no_copies', show => 'title');
