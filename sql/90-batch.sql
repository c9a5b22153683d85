-- Pairs and clusters of near-duplicates of a whole table.

CREATE FUNCTION neardup_pairs(query text, threshold float8, multiset boolean DEFAULT false,
		against text DEFAULT NULL, equal text DEFAULT 'first', verify float8 DEFAULT NULL,
		recall float8 DEFAULT 1.0, measure text DEFAULT 'resemblance',
		verdicts text DEFAULT NULL, within name[] DEFAULT '{}',
		OUT a bigint, OUT b bigint, OUT similarity float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_pairs'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_pairs(text, float8, boolean, text, text, float8, float8, text, text, name[]) IS
	'all pairs of near-duplicates among the rows (id bigint, signature) of a query';

CREATE FUNCTION neardup_pairs(query text, threshold float8, id_type anyelement,
		multiset boolean DEFAULT false, against text DEFAULT NULL, equal text DEFAULT 'first',
		verify float8 DEFAULT NULL, recall float8 DEFAULT 1.0, measure text DEFAULT 'resemblance',
		verdicts text DEFAULT NULL, within name[] DEFAULT '{}',
		OUT a anyelement, OUT b anyelement, OUT similarity float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_pairs'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_pairs(text, float8, anyelement, boolean, text, text, float8, float8, text, text, name[]) IS
	'all pairs of near-duplicates among the rows (id, signature) of a query, with ids of the type of id_type, as in NULL::uuid';

CREATE FUNCTION neardup_clusters(query text, threshold float8, multiset boolean DEFAULT false,
		against text DEFAULT NULL, method text DEFAULT 'star', nearest boolean DEFAULT false,
		verify float8 DEFAULT NULL, recall float8 DEFAULT 1.0, measure text DEFAULT 'resemblance',
		verdicts text DEFAULT NULL, within name[] DEFAULT '{}',
		OUT id bigint, OUT keeper bigint, OUT similarity float8, OUT size bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_clusters'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_clusters(text, float8, boolean, text, text, boolean, float8, float8, text, text, name[]) IS
	'clusters of near-duplicates among the rows (id bigint, signature) of a query: each row with the row to keep';

CREATE FUNCTION neardup_clusters(query text, threshold float8, id_type anyelement,
		multiset boolean DEFAULT false, against text DEFAULT NULL, method text DEFAULT 'star',
		nearest boolean DEFAULT false, verify float8 DEFAULT NULL, recall float8 DEFAULT 1.0,
		measure text DEFAULT 'resemblance', verdicts text DEFAULT NULL, within name[] DEFAULT '{}',
		OUT id anyelement, OUT keeper anyelement, OUT similarity float8, OUT size bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_clusters'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_clusters(text, float8, anyelement, boolean, text, text, boolean, float8, float8, text, text, name[]) IS
	'clusters of near-duplicates among the rows (id, signature) of a query, with ids of the type of id_type, as in NULL::uuid';

-- The progress of calls, as the views pg_stat_progress_* report that of commands.

CREATE FUNCTION neardup_progress(OUT pid int, OUT phase text, OUT rows_read bigint,
		OUT done bigint, OUT total bigint, OUT pairs_found bigint, OUT percent int, OUT time_left interval) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_progress'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION neardup_progress() IS
	'progress of running calls of neardup_pairs(), neardup_clusters(), neardup_check(), neardup_advise() and neardup_pairs_to_judge(), in all sessions that the caller may see';
