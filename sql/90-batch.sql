-- Pairs and clusters of near-duplicates of a whole table.

-- Each is two functions.  One, with id_type anyelement DEFAULT NULL::bigint, would not do: PostgreSQL derives the types of
-- the columns from the arguments as written, before it puts named arguments and defaults in their places.
CREATE FUNCTION neardup_pairs(query pg_catalog.text, threshold pg_catalog.float8, multiset boolean DEFAULT false,
		against pg_catalog.text DEFAULT NULL, equal pg_catalog.text DEFAULT 'first', contained pg_catalog.float8 DEFAULT NULL,
		recall pg_catalog.float8 DEFAULT 1.0, measure pg_catalog.text DEFAULT 'resemblance',
		verdicts pg_catalog.text DEFAULT NULL, within pg_catalog.name[] DEFAULT '{}', unknown pg_catalog.name[] DEFAULT '{}',
		OUT a bigint, OUT b bigint, OUT similarity pg_catalog.float8) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_pairs'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_pairs(pg_catalog.text, pg_catalog.float8, boolean, pg_catalog.text, pg_catalog.text, pg_catalog.float8, pg_catalog.float8, pg_catalog.text, pg_catalog.text, pg_catalog.name[], pg_catalog.name[]) IS
	'all pairs of near-duplicates among the rows (id bigint, signature) of a query';

CREATE FUNCTION neardup_pairs(query pg_catalog.text, threshold pg_catalog.float8, id_type pg_catalog.anyelement,
		multiset boolean DEFAULT false, against pg_catalog.text DEFAULT NULL, equal pg_catalog.text DEFAULT 'first',
		contained pg_catalog.float8 DEFAULT NULL, recall pg_catalog.float8 DEFAULT 1.0, measure pg_catalog.text DEFAULT 'resemblance',
		verdicts pg_catalog.text DEFAULT NULL, within pg_catalog.name[] DEFAULT '{}', unknown pg_catalog.name[] DEFAULT '{}',
		OUT a pg_catalog.anyelement, OUT b pg_catalog.anyelement, OUT similarity pg_catalog.float8) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_pairs'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_pairs(pg_catalog.text, pg_catalog.float8, pg_catalog.anyelement, boolean, pg_catalog.text, pg_catalog.text, pg_catalog.float8, pg_catalog.float8, pg_catalog.text, pg_catalog.text, pg_catalog.name[], pg_catalog.name[]) IS
	'all pairs of near-duplicates among the rows (id, signature) of a query, with ids of the type of id_type, as in NULL::uuid';

CREATE FUNCTION neardup_clusters(query pg_catalog.text, threshold pg_catalog.float8, multiset boolean DEFAULT false,
		against pg_catalog.text DEFAULT NULL, method pg_catalog.text DEFAULT 'star', nearest boolean DEFAULT false,
		contained pg_catalog.float8 DEFAULT NULL, recall pg_catalog.float8 DEFAULT 1.0, measure pg_catalog.text DEFAULT 'resemblance',
		verdicts pg_catalog.text DEFAULT NULL, within pg_catalog.name[] DEFAULT '{}', unknown pg_catalog.name[] DEFAULT '{}',
		OUT id bigint, OUT keeper bigint, OUT similarity pg_catalog.float8, OUT size bigint) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_clusters'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_clusters(pg_catalog.text, pg_catalog.float8, boolean, pg_catalog.text, pg_catalog.text, boolean, pg_catalog.float8, pg_catalog.float8, pg_catalog.text, pg_catalog.text, pg_catalog.name[], pg_catalog.name[]) IS
	'clusters of near-duplicates among the rows (id bigint, signature) of a query: each row with the row to keep';

CREATE FUNCTION neardup_clusters(query pg_catalog.text, threshold pg_catalog.float8, id_type pg_catalog.anyelement,
		multiset boolean DEFAULT false, against pg_catalog.text DEFAULT NULL, method pg_catalog.text DEFAULT 'star',
		nearest boolean DEFAULT false, contained pg_catalog.float8 DEFAULT NULL, recall pg_catalog.float8 DEFAULT 1.0,
		measure pg_catalog.text DEFAULT 'resemblance', verdicts pg_catalog.text DEFAULT NULL, within pg_catalog.name[] DEFAULT '{}', unknown pg_catalog.name[] DEFAULT '{}',
		OUT id pg_catalog.anyelement, OUT keeper pg_catalog.anyelement, OUT similarity pg_catalog.float8, OUT size bigint) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_clusters'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_clusters(pg_catalog.text, pg_catalog.float8, pg_catalog.anyelement, boolean, pg_catalog.text, pg_catalog.text, boolean, pg_catalog.float8, pg_catalog.float8, pg_catalog.text, pg_catalog.text, pg_catalog.name[], pg_catalog.name[]) IS
	'clusters of near-duplicates among the rows (id, signature) of a query, with ids of the type of id_type, as in NULL::uuid';

-- The progress of calls, as the views pg_stat_progress_* report that of commands.

CREATE FUNCTION neardup_progress(OUT pid int, OUT phase pg_catalog.text, OUT rows_read bigint,
		OUT done bigint, OUT total bigint, OUT pairs_found bigint, OUT percent int, OUT time_left interval) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_progress'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION neardup_progress() IS
	'progress of running calls of neardup_pairs(), neardup_clusters(), neardup_guard(), neardup_check(), neardup_advise() and neardup_pairs_to_judge(), in all sessions that the caller may see';
