-- Which comparison fits a set of texts, and the pairs to judge to find out.

CREATE FUNCTION neardup_pairs_to_judge(query pg_catalog.text, pairs int DEFAULT 10, judged pg_catalog.text DEFAULT NULL,
		sample int DEFAULT 2000, variants boolean DEFAULT true,
		OUT a pg_catalog.text, OUT b pg_catalog.text, OUT similarity pg_catalog.float8, OUT again boolean) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_pairs_to_judge'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10;
COMMENT ON FUNCTION neardup_pairs_to_judge(pg_catalog.text, int, pg_catalog.text, int, boolean) IS
	'pairs of the texts of a query (id, text) for a person to judge: first verdicts to confirm, then the pairs whose verdicts say most about how to compare the texts';

CREATE FUNCTION neardup_advise(query pg_catalog.text, judged pg_catalog.text DEFAULT NULL, least_precision pg_catalog.float8 DEFAULT 0,
		sample int DEFAULT 2000, variants boolean DEFAULT true,
		OUT scheme pg_catalog.text, OUT lexicon boolean, OUT measure pg_catalog.text, OUT threshold pg_catalog.float8,
		OUT f1 pg_catalog.float8,
		OUT "precision" pg_catalog.float8, OUT precision_low pg_catalog.float8, OUT precision_high pg_catalog.float8,
		OUT to_halve int, OUT recall pg_catalog.float8,
		OUT pairs bigint, OUT pairs_low bigint, OUT pairs_high bigint, OUT statement pg_catalog.text) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_advise'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 12;
COMMENT ON FUNCTION neardup_advise(pg_catalog.text, pg_catalog.text, pg_catalog.float8, int, boolean) IS
	'ways to compare the texts of a query (id, text), best first, as far as judged pairs (a, b, same) tell; recall is of duplicates that some candidate ranks high';
