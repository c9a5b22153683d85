-- What a sample of the texts says about schemes and thresholds.
SELECT topic, finding FROM neardup_advise('SELECT id, body FROM documents');
