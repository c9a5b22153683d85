-- Which comparison fits a set of texts, and the pairs to judge to find out.

CREATE FUNCTION neardup_pairs_to_judge(query text, pairs int DEFAULT 60, judged text DEFAULT NULL,
		sample int DEFAULT 2000,
		OUT a text, OUT b text, OUT similarity float8, OUT stands_for float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_pairs_to_judge'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 60;
COMMENT ON FUNCTION neardup_pairs_to_judge(text, int, text, int) IS
	'pairs of the texts of a query (id, text) for a person to judge: the pairs whose verdicts say most about how to compare the texts';

CREATE FUNCTION neardup_advise(query text, judged text DEFAULT NULL, least_precision float8 DEFAULT 0,
		sample int DEFAULT 2000,
		OUT scheme text, OUT lexicon boolean, OUT measure text, OUT threshold float8,
		OUT f1 float8, OUT f1_low float8, OUT f1_high float8,
		OUT "precision" float8, OUT precision_low float8, OUT precision_high float8,
		OUT recall float8, OUT recall_low float8, OUT recall_high float8,
		OUT pairs bigint, OUT statement text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_advise'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 12;
COMMENT ON FUNCTION neardup_advise(text, text, float8, int) IS
	'ways to compare the texts of a query (id, text), best first, as far as judged pairs (a, b, same) tell';
