-- Looking into an index: what it is made of, whether it is sound, what a search does.
-- Everybody may call these, which look at what the caller may do with the table.
-- That is granted in so many words, as an update from 0.1.0 leaves it.

CREATE FUNCTION neardup_index_info(index regclass,
		OUT segments int, OUT documents bigint, OUT dead bigint, OUT tail bigint, OUT bytes bigint)
	AS 'MODULE_PATHNAME', 'neardup_index_info'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_index_info(regclass) IS
	'segments, documents, dead ones among them, those in the tail, and bytes of a neardup index';

CREATE FUNCTION neardup_check(index regclass) RETURNS text
	AS 'MODULE_PATHNAME', 'neardup_check'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_check(regclass) IS
	'verify a neardup index against itself and its table: an error at the first defect, else counts';

-- One row a segment, and one for the tails.

CREATE FUNCTION neardup_explain(index regclass, ball minhash_ball,
		OUT segment int, OUT documents bigint,
		OUT method text, OUT groups int, OUT radius int, OUT hits int,
		OUT planned_postings float8, OUT planned_candidates float8, OUT planned_us float8,
		OUT postings bigint, OUT candidates bigint, OUT pages bigint, OUT us float8,
		OUT matches bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_explain'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_explain(regclass, minhash_ball) IS
	'how a neardup index is searched for a ball: plan, price and what it cost, by segment';

CREATE FUNCTION neardup_explain(index regclass, ball simhash_ball,
		OUT segment int, OUT documents bigint,
		OUT method text, OUT groups int, OUT radius int, OUT hits int,
		OUT planned_postings float8, OUT planned_candidates float8, OUT planned_us float8,
		OUT postings bigint, OUT candidates bigint, OUT pages bigint, OUT us float8,
		OUT matches bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_explain'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_explain(regclass, simhash_ball) IS
	'how a neardup index is searched for a ball: plan, price and what it cost, by segment';

CREATE FUNCTION neardup_explain(index regclass, query minhash, threshold float8,
		OUT segment int, OUT documents bigint,
		OUT method text, OUT groups int, OUT radius int, OUT hits int,
		OUT planned_postings float8, OUT planned_candidates float8, OUT planned_us float8,
		OUT postings bigint, OUT candidates bigint, OUT pages bigint, OUT us float8,
		OUT matches bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_explain_threshold'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_explain(regclass, minhash, float8) IS
	'how a neardup index is searched for what is similar: plan, price and what it cost, by segment';

CREATE FUNCTION neardup_explain(index regclass, query simhash, threshold float8,
		OUT segment int, OUT documents bigint,
		OUT method text, OUT groups int, OUT radius int, OUT hits int,
		OUT planned_postings float8, OUT planned_candidates float8, OUT planned_us float8,
		OUT postings bigint, OUT candidates bigint, OUT pages bigint, OUT us float8,
		OUT matches bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_explain_threshold'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_explain(regclass, simhash, float8) IS
	'how a neardup index is searched for what is similar: plan, price and what it cost, by segment';

GRANT EXECUTE ON FUNCTION neardup_index_info(regclass) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_check(regclass) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_explain(regclass, minhash_ball) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_explain(regclass, simhash_ball) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_explain(regclass, minhash, float8) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_explain(regclass, simhash, float8) TO PUBLIC;
