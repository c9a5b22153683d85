-- A page that shows pairs of a table's texts side by side, with what differs, on which a person judges them.

CREATE TYPE neardup_review AS (
	shown pg_catalog.text,         -- the name of the relation, as HTML
	key pg_catalog.text,           -- that of the key, as HTML
	signed pg_catalog.text,        -- the scheme of the signatures, as HTML
	made pg_catalog.text,          -- that scheme
	k int,                         -- the shape of the signatures, if they are of minhash
	b int,
	exactly boolean,               -- whether the scheme can be read from a signature
	kind pg_catalog.text,
	threshold pg_catalog.float8,
	members int,
	chars int,
	compared int,                  -- how many characters of a text are compared
	min_tokens int,
	scheme pg_catalog.text,        -- of the passages
	unseen pg_catalog.text,        -- as in neardup_rows
	encoding pg_catalog.text,      -- of the page
	commas pg_catalog.text         -- the format of numbers
);

CREATE TYPE neardup_review_pair AS (
	n bigint,                      -- its number on the page
	place bigint,                  -- the number of its cluster
	member bigint,                 -- its number in the cluster
	members bigint,                -- the number of members of the cluster without the keeper
	size bigint,                   -- the number of its rows
	similarity pg_catalog.float8,
	same boolean,                  -- whether the texts are equal
	signatures pg_catalog.text,    -- both, if the scheme can be read from them
	ids pg_catalog.text[],
	titles pg_catalog.text[],
	missing boolean[],             -- whether a text is NULL
	lengths int[],
	texts pg_catalog.text[],       -- what is compared
	plain pg_catalog.text[]        -- what the extension can read of it, with the same positions
);

-- The one place where values become HTML.  Invisible characters, and those that change the direction of
-- others, are shown as their codes.
CREATE PROCEDURE neardup_escape(unseen pg_catalog.text, INOUT html pg_catalog.text[])
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
	SELECT array_agg(CASE WHEN raw IS NOT NULL THEN (
			SELECT coalesce(string_agg(CASE WHEN piece ~ unseen THEN format('<code>%s</code>', upper(lpad(code, greatest(4, length(code)), '0')))
				ELSE replace(replace(replace(replace(replace(piece, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;') END, '' ORDER BY place), '')
			FROM regexp_matches(raw, unseen || '|' || replace(unseen, '[', '[^') || '+', 'g') WITH ORDINALITY AS m (found, place),
				LATERAL (SELECT found[1], to_hex(ascii(found[1]))) AS f (piece, code)) END ORDER BY n) INTO html
	FROM unnest(html) WITH ORDINALITY AS h (value, n), LATERAL (SELECT value COLLATE "C") AS r (raw);
END $$;
COMMENT ON PROCEDURE neardup_escape(pg_catalog.text, pg_catalog.text[]) IS
	'a part of neardup_review_page(): makes HTML of values';

-- One text of a pair: which parts of it are in the other, and how much of it is shown.
CREATE PROCEDURE neardup_review_text(review neardup_review, pair neardup_review_pair, side int, starts int[], counts int[], INOUT head pg_catalog.text, INOUT html pg_catalog.text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	body text := pair.texts[side];
	pieces text[];
	kinds text[];
	befores text[];
	afters text[];
	ending bigint;
	shared bigint;
BEGIN
	WITH apart AS (
		-- Passages may overlap: what an earlier one has is not marked twice.
		SELECT * FROM (
			SELECT passage, start + length AS after, greatest(start, max(start + length) OVER (ORDER BY start, start + length, passage
				ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS first
			FROM unnest(starts, counts) WITH ORDINALITY AS u (start, length, passage)) AS m
		WHERE first < after
	), pieces AS (
		SELECT first, after, passage FROM apart
		UNION ALL SELECT lag(after, 1, 1) OVER (ORDER BY first), first, NULL FROM apart
		UNION ALL SELECT coalesce(max(after), 1), length(body) + 1, NULL FROM apart
	), ends AS (
		SELECT first, after, passage, ends, after - first - seen AS hidden, seen
		FROM pieces, LATERAL (SELECT least(CASE WHEN passage IS NULL THEN 400 ELSE 80 END, review.chars / 10) AS ends) AS e,
			LATERAL (SELECT CASE WHEN after - first > 3 * ends THEN 2 * ends ELSE after - first END AS seen) AS s
		WHERE first < after
	), rooms AS (
		-- First the ends of all pieces have room, then what is between them.
		SELECT *, (review.chars - sum(seen) OVER before + seen)::int AS room, (review.chars - sum(seen) OVER () - sum(hidden) OVER before + hidden)::int AS rest
		FROM ends WINDOW before AS (ORDER BY first)
	), shown AS (
		SELECT first, after, passage, ends, hidden, hidden > 0 AND room >= seen AS split, least(room, seen) AS seen, greatest(0, least(rest, hidden)) AS folded
		FROM rooms WHERE room > 0
	), data AS (
		SELECT first, part, CASE WHEN part = 2 THEN hidden - folded ELSE 0 END AS number, CASE WHEN part = 2 AND folded > 0 THEN hidden END AS hidden,
			CASE WHEN NOT split THEN substr(body, first, seen) WHEN part = 1 THEN substr(body, first, ends) WHEN part = 2 THEN substr(body, first + ends, folded)
				ELSE substr(body, after - ends, ends) END AS raw,
			-- A text that is shown for two has no marks; what is not compared has none either.
			CASE WHEN pair.same THEN 'between' WHEN passage IS NOT NULL THEN format('<mark data-passage="%s">', passage)
				WHEN after > review.compared OR @extschema@.cardinality(@extschema@.to_shingles(substr(pair.plain[side], first, after - first), 'word 1'::text)) = 0 THEN 'between'
				ELSE 'differs' END AS kind
		FROM shown, (VALUES (1), (2), (3)) AS p (part)
		WHERE part = 1 OR split
		UNION ALL
		SELECT 0, 0, greatest(0, length(value) - 200), NULL, left(value, 200), kind FROM (VALUES (pair.ids[side], 'id'), (pair.titles[side], 'title')) AS v (value, kind)
	)
	SELECT array_agg(raw ORDER BY first, part), array_agg(kind ORDER BY first, part),
		array_agg('<span class="cut brief">' || to_char(hidden, review.commas) || ' characters</span><span class="fold">' ORDER BY first, part),
		array_agg(concat(CASE WHEN number > 0 THEN format('<span class="cut">%s characters</span>', to_char(number, review.commas)) END, CASE WHEN hidden > 0 THEN '</span>' END) ORDER BY first, part),
		(SELECT coalesce(max(CASE WHEN split THEN after ELSE first + seen END) - 1, 0) FROM shown), (SELECT coalesce(sum(after - first), 0) FROM apart)
		INTO pieces, kinds, befores, afters, ending, shared
	FROM data;
	CALL @extschema@.neardup_escape(review.unseen, pieces);
	SELECT format(E'<h4><span class="soft">%s</span> <bdi>%s</bdi>%s</h4>\n<p class="facts">%s%s</p>\n', review.key, max(line) FILTER (WHERE kind = 'id'),
			' <bdi class="title">' || nullif(max(line) FILTER (WHERE kind = 'title'), '') || '</bdi>',
			CASE WHEN pair.missing[side] THEN 'The text is NULL.' ELSE to_char(pair.lengths[side], review.commas) || ' characters' END,
			CASE WHEN NOT pair.same AND pair.lengths[side] > 0 AND review.kind <> 'judge' THEN format(', %s %% shared', floor(100.0 * shared / length(body))) END),
		format(E'<div class="text" lang="" dir="auto">%s%s</div>\n', string_agg(line, '' ORDER BY n) FILTER (WHERE kind NOT IN ('id', 'title')),
			CASE WHEN pair.lengths[side] > ending THEN format(' <span class="cut end">%s more characters%s</span>', to_char(pair.lengths[side] - ending, review.commas),
				CASE WHEN pair.lengths[side] > review.compared AND NOT pair.same THEN format(' (the last %s are not compared)', to_char(pair.lengths[side] - review.compared, review.commas)) END) END)
		INTO head, html
	FROM unnest(pieces, kinds, befores, afters) WITH ORDINALITY AS p (piece, kind, before, after, n), LATERAL (SELECT concat(before, CASE
			WHEN kind = 'differs' THEN regexp_replace(piece, '^(\s*)(.*\S)(\s*)$', '\1<b>\2</b>\3')
			WHEN kind LIKE '<mark%' THEN regexp_replace(piece, '^(\s*)(.+)$', '\1' || kind || '\2</mark>') ELSE piece END, after)) AS l (line);
END $$;
COMMENT ON PROCEDURE neardup_review_text(neardup_review, neardup_review_pair, int, int[], int[], pg_catalog.text, pg_catalog.text) IS
	'a part of neardup_review_page(): one text of a pair';

CREATE PROCEDURE neardup_review_pair(review neardup_review, pair neardup_review_pair, INOUT html pg_catalog.text, INOUT exact boolean)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	a_starts int[];
	a_counts int[];
	b_starts int[];
	b_counts int[];
	heads text[];
	texts text[];
	head text;
	similarity float8;
BEGIN
	IF NOT pair.same THEN
		SELECT array_agg(a_start ORDER BY place), array_agg(a_length ORDER BY place), array_agg(b_start ORDER BY place), array_agg(b_length ORDER BY place) INTO a_starts, a_counts, b_starts, b_counts
		FROM @extschema@.shared_passages(pair.plain[1], pair.plain[2], review.scheme, review.min_tokens) WITH ORDINALITY AS p (a_start, a_length, b_start, b_length, tokens, place);
	END IF;
	FOR side IN 1 .. 2 LOOP
		CALL @extschema@.neardup_review_text(review, pair, side, CASE side WHEN 1 THEN a_starts ELSE b_starts END, CASE side WHEN 1 THEN a_counts ELSE b_counts END, head, html);
		heads := heads || head;
		texts := texts || html;
	END LOOP;
	-- Signatures may be of another text, such as one without markup.
	IF pair.signatures = format('%s %s', @extschema@.to_minhash(pair.plain[1], review.k, review.b, review.made), @extschema@.to_minhash(pair.plain[2], review.k, review.b, review.made)) THEN
		similarity := @extschema@.similarity(@extschema@.to_shingles(pair.plain[1], review.made), @extschema@.to_shingles(pair.plain[2], review.made));
		exact := true;
	END IF;
	SELECT CASE WHEN review.kind = 'clusters' AND pair.member = 1 THEN format(E'<h2>Cluster %s: %s rows</h2>\n<p class="soft">%s of the %s other rows, each beside the row that is kept; the least similar first</p>\n',
			pair.place, to_char(pair.size, review.commas), to_char(least(pair.members, review.members), review.commas), to_char(pair.size - 1, review.commas)) ELSE '' END
		|| format(E'<article id="p%s" tabindex="-1" aria-labelledby="h%1$s" data-row="%s" data-key="%s">\n<header><h3 id="h%1$s">Pair %1$s%4$s%5$s</h3>%6$s</header>\n', pair.n,
			encode(convert_to(rows, review.encoding), 'hex'), hashtextextended(concat(current_database(), review.shown, rows, pair.texts[1], pair.texts[2]), 0),
			CASE WHEN pair.similarity IS NULL THEN ': judged the same' WHEN review.kind <> 'judge' THEN format(': similarity <strong>%s</strong>', to_char(pair.similarity, 'FM0.000')) END,
			' ' || nullif(concat_ws(', ', CASE WHEN review.k IS NOT NULL AND review.made <> 'foreign' THEN '&#177; ' || to_char(@extschema@.minhash_error(review.k, review.b, pair.similarity), 'FM0.000') || ' estimated' END,
				to_char(similarity, 'FM0.000') || ' exact', CASE WHEN pair.same THEN 'the texts are the same' END), ''),
			CASE WHEN concat(texts[1], texts[2]) LIKE '%<span class="fold">%' THEN ' <label><input type="checkbox"/> all of both texts</label>' END)
		|| CASE WHEN pair.same THEN format(E'<div class="sides same">\n<section>\n%s</section>\n<section>\n%s</section>\n%s</div>\n', heads[1], heads[2], texts[1])
			ELSE format(E'<div class="sides">\n<section>\n%s%s</section>\n<section>\n%s%s</section>\n</div>\n', heads[1], texts[1], heads[2], texts[2]) END
		|| '</article>' INTO html
	-- The ids as COPY writes them.
	FROM (SELECT string_agg(replace(replace(replace(replace(id, E'\\', E'\\\\'), E'\t', E'\\t'), E'\n', E'\\n'), E'\r', E'\\r') || E'\t', '' ORDER BY n) FROM unnest(pair.ids) WITH ORDINALITY AS i (id, n)) AS c (rows);
END $$;
COMMENT ON PROCEDURE neardup_review_pair(neardup_review, neardup_review_pair, pg_catalog.text, boolean) IS
	'a part of neardup_review_page(): a pair';

-- What is above the pairs: the counts, and a histogram of 20 bars and one of equal signatures.
CREATE PROCEDURE neardup_review_top(review neardup_review, subtitle pg_catalog.text, signed bigint, pairs bigint, equal bigint, shown bigint, bins bigint[], shown_bins boolean[], exact boolean,
		given boolean, INOUT html pg_catalog.text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	what text := CASE review.kind WHEN 'clusters' THEN 'rows' ELSE 'pairs' END;
BEGIN
	WITH heights AS (
		SELECT *, greatest(1, coalesce(nullif(max(number) FILTER (WHERE bin < 20) OVER (), 0), max(number) OVER ())) AS highest,
			CASE WHEN bin = 20 THEN 'equal signatures' ELSE format('%s to %s', to_char(low, 'FM0.000'), to_char(low + width, 'FM0.000')) END AS name
		FROM unnest(bins, shown_bins) WITH ORDINALITY AS u (number, "in", place), LATERAL (SELECT place - 1 AS bin, (1 - review.threshold) / 20 AS width) AS w, LATERAL (SELECT review.threshold + bin * width AS low) AS l
	), histogram AS (
		SELECT string_agg(format('<rect%s x="%s" y="%s" width="0.9" height="%s"><title>%s: %s</title></rect>', CASE WHEN "in" THEN ' class="in"' END,
				bin + CASE WHEN bin = 20 THEN 1.05 ELSE 0.05 END, round(100 - height, 2), round(height, 2), name, to_char(number, review.commas))
				-- The bar of equal ones may be much higher than all others: it is cut, and says so.
				|| CASE WHEN number > highest THEN E'\n<path class="break" d="M20.9 20L22.1 12v6L20.9 26z"/>' ELSE '' END, E'\n' ORDER BY bin) AS bars,
			E'\n<p class="over" id="cut">' || to_char(max(number) FILTER (WHERE number > highest), review.commas) || ' are equal: this bar is cut</p>' AS mark,
			string_agg(format('<tr><td>%s</td><td>%s</td></tr>', name, to_char(number, review.commas)), E'\n' ORDER BY bin) AS rows
		FROM heights, LATERAL (SELECT CASE WHEN number > 0 THEN greatest(2, least(1, number::numeric / highest) * 100) ELSE 0 END AS height) AS h
	)
	SELECT format(E'<header>\n<div class="top">\n<div>\n<h1>%s <bdi>%s</bdi></h1>\n<p class="soft">%s, %s</p>\n', CASE review.kind WHEN 'judge' THEN 'Pairs to judge of' ELSE 'Near-duplicates of' END,
			review.shown, subtitle, to_char(now(), 'YYYY-MM-DD HH24:MI'))
		|| CASE review.kind WHEN 'judge' THEN '</div>' ELSE format(
			E'<dl>\n<div><dt>rows%s</dt><dd>%s</dd></div>\n<div><dt>%s</dt><dd>%s</dd></div>\n<div><dt>equal signatures</dt><dd>%s</dd></div>\n<div><dt>shown</dt><dd>%s</dd></div>\n</dl>\n</div>\n'
			'<figure>\n<figcaption id="figure">%s%s</figcaption>%s\n<svg viewBox="0 0 22 100" preserveAspectRatio="none" role="img" aria-labelledby="figure%s">\n%s\n</svg>\n'
			'<div class="axis" aria-hidden="true"><span>%s</span><span>%s</span><span>%s</span><span>%s</span><span>equal</span></div>\n'
			'<details><summary>as a table</summary>\n<table>\n<tr><th scope="col">similarity</th><th scope="col">pairs</th></tr>\n%s\n</table>\n</details>\n</figure>',
			CASE WHEN NOT given THEN ' signed' END, to_char(signed, review.commas), CASE what WHEN 'rows' THEN 'near-duplicates' ELSE what END, to_char(pairs, review.commas), to_char(equal, review.commas),
			to_char(shown, review.commas), CASE what WHEN 'rows' THEN 'Rows by similarity to the row that is kept' ELSE 'Pairs by similarity' END,
			CASE WHEN shown > 0 THEN format('. Blue bars have %s that are shown below.', what) END, mark, CASE WHEN mark <> '' THEN ' cut' END, bars, ticks[1], ticks[2], ticks[3], ticks[4], rows) END
		|| format(E'\n</div>\n<p class="legend"><mark>Shared</mark>: in a run of %s words and more that both texts have. <b>Different</b>: words in no such run.%s%s</p>\n</header>\n<main>%s', review.min_tokens,
			CASE WHEN review.k IS NOT NULL THEN ' The estimate is that of the signatures, with one standard error.' END,
			CASE WHEN exact THEN format(' The exact similarity is that of all shingles (%s) of the texts.', review.signed) END,
			CASE WHEN shown = 0 THEN E'\n<p>There are none.</p>' END) INTO html
	FROM histogram, (SELECT array_agg(to_char(review.threshold + i * (1 - review.threshold) / 4, 'FM0.009') ORDER BY i) FROM generate_series(0, 3) AS i) AS t (ticks);
END $$;
COMMENT ON PROCEDURE neardup_review_top(neardup_review, pg_catalog.text, bigint, bigint, bigint, bigint, bigint[], boolean[], boolean, boolean, pg_catalog.text) IS
	'a part of neardup_review_page(): what is above the pairs';

CREATE FUNCTION neardup_review_page(relation pg_catalog.regclass, kind pg_catalog.text DEFAULT 'pairs', threshold pg_catalog.float8 DEFAULT 0.8, texts pg_catalog.name DEFAULT 'body',
		order_by pg_catalog.text DEFAULT NULL, within pg_catalog.name[] DEFAULT '{}', verdicts pg_catalog.regclass DEFAULT NULL, show pg_catalog.name DEFAULT NULL, listed int DEFAULT NULL,
		pairs pg_catalog.regclass DEFAULT NULL, sort pg_catalog.text DEFAULT 'lowest', below pg_catalog.float8 DEFAULT NULL, members int DEFAULT 4, chars int DEFAULT 20000, min_tokens int DEFAULT 3,
		scheme pg_catalog.text DEFAULT 'word 3', key pg_catalog.name[] DEFAULT NULL, signature pg_catalog.name DEFAULT NULL, trust boolean DEFAULT false) RETURNS pg_catalog.text
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
#variable_conflict use_variable
DECLARE
	found @extschema@.neardup_rows;
	review @extschema@.neardup_review;
	pair @extschema@.neardup_review_pair;
	chosen @extschema@.neardup_review_pair[];
	-- In SQL_ASCII the extension reads ASCII only; positions stay the same.
	strange text := CASE WHEN getdatabaseencoding() = 'SQL_ASCII' THEN '[^\u0001-\u007f]' END;
	unsigned boolean := kind = 'judge' OR pairs IS NOT NULL;
	readable text;
	line record;
	signed record;
	counts record;
	html text;
	exact boolean := false;
	style text;
	script text;
	names text[];
	lines text[];
BEGIN
	listed := coalesce(listed, CASE kind WHEN 'judge' THEN 10 ELSE 60 END);
	FOR line IN SELECT * FROM (VALUES ('kind', kind IN ('pairs', 'clusters', 'judge'), 'pairs, clusters or judge'), ('threshold', threshold > 0 AND threshold <= 1, 'above 0 and at most 1'),
			('sort', sort IN ('lowest', 'highest', 'largest'), 'lowest, highest or largest'), ('sort', sort <> 'largest' OR kind = 'clusters', 'lowest or highest if kind is not clusters'),
			('sort', sort = 'lowest' OR kind <> 'judge', 'left out if kind is judge'), ('below', below IS NULL OR kind <> 'judge', 'NULL if kind is judge'),
			('pairs', pairs IS NULL OR kind = 'pairs', 'NULL if kind is not pairs'), ('below', coalesce(below, 1) > 0 AND coalesce(below, 1) <= 1, 'above 0 and at most 1'),
			('verdicts', verdicts IS NULL OR pairs IS NULL, 'NULL if "pairs" is not NULL'),
			('within', coalesce(cardinality(within), 0) = 0 OR pairs IS NULL, 'empty if "pairs" is not NULL'),
			('listed', listed BETWEEN 1 AND 1000000, 'from 1 to 1000000'), ('members', members BETWEEN 1 AND 1000000, 'from 1 to 1000000'),
			('chars', chars BETWEEN 100 AND 1000000, 'from 100 to 1000000'), ('min_tokens', min_tokens BETWEEN 1 AND 1000000, 'from 1 to 1000000'),
			('texts', texts IS NOT NULL, 'a column'), ('scheme', scheme IS NOT NULL, 'a scheme of shingles')) AS v (name, fits, allowed) WHERE fits IS NOT TRUE LIMIT 1 LOOP
		RAISE EXCEPTION '"%" must be %', line.name, line.allowed USING ERRCODE = 'invalid_parameter_value', HINT = 'Write it by its name, as in listed => 100.';
	END LOOP;
	-- It is an error if no passage can be of this scheme.
	PERFORM @extschema@.shared_passages(''::text, ''::text, scheme, min_tokens);
	PERFORM @extschema@.neardup_require_trust(pairs, trust, false) WHERE pairs IS NOT NULL;
	IF (SELECT count(*) FROM pg_attribute WHERE attrelid = pairs AND attname IN ('a', 'b', 'similarity') AND NOT attisdropped) < 3 AND pairs IS NOT NULL THEN
		RAISE EXCEPTION '"pairs" must have the columns a, b and similarity, as "%" does not', pairs USING ERRCODE = 'undefined_column', HINT = 'Use CREATE TABLE pairs AS SELECT a, b, similarity FROM neardup_pairs(...).';
	END IF;
	-- Pairs to judge are drawn from the texts, and need no signatures; nor do given pairs.
	CALL @extschema@.neardup_find_rows(relation, key, CASE WHEN unsigned THEN texts ELSE signature END, within, order_by, verdicts, NULL::name, ARRAY[texts, show], trust, false, found);
	EXECUTE format('SELECT count(*) AS rows, (SELECT left(format(''%%s'', t.%I), 100) FROM %s AS t WHERE t.%1$I IS NOT NULL AND NOT $1 LIMIT 1) AS one FROM %2$s AS t WHERE t.%1$I IS NOT NULL',
		found.signature, relation) INTO signed USING unsigned;
	review := ROW(NULL, NULL, NULL, split_part(signed.one, '/', 2), substring(signed.one FROM '^\d+/[^/]*/(\d+)x\d'), substring(signed.one FROM '^\d+/[^/]*/\d+x(\d+)'),
		signed.one ~ '^\d+/(word|char|anychar|stopword) \d+/\d+x', kind, threshold, members, chars, 10 * chars, min_tokens, scheme, found.unseen,
		CASE WHEN strange IS NULL THEN 'UTF8' ELSE 'SQL_ASCII' END, 'FM999,999,999,999,990');
	names := ARRAY[found.shown, array_to_string(found.columns, ','), review.made];
	CALL @extschema@.neardup_escape(review.unseen, names);
	review.shown := names[1];
	review.key := names[2];
	review.signed := names[3];
	readable := CASE WHEN strange IS NULL THEN '%s' ELSE format('regexp_replace(%%s, %L, ''?'', ''g'')', strange) END;

	-- Which pairs, and how many there are.  The order in which pairs to judge were drawn stands for
	-- their similarity, which is not shown.
	EXECUTE format($pairs$
		WITH found AS MATERIALIZED (
			SELECT a COLLATE "C" AS a, b COLLATE "C" AS b, similarity, size FROM (%s) AS f
		), ranked AS (
			SELECT *, row_number() OVER (cluster ORDER BY similarity, b) AS member, count(*) OVER cluster AS members,
				CASE $5 WHEN 'lowest' THEN min(similarity) OVER cluster WHEN 'highest' THEN -max(similarity) OVER cluster ELSE -size END AS rank
			FROM found WHERE similarity < $6 OR $6 IS NULL
			WINDOW cluster AS (PARTITION BY a, CASE WHEN $7 <> 'clusters' THEN b END)
		), placed AS (
			SELECT *, dense_rank() OVER (ORDER BY rank, a, CASE WHEN $7 <> 'clusters' THEN b END) AS place FROM ranked
		), chosen AS MATERIALIZED (
			SELECT *, row_number() OVER (ORDER BY place, member) AS n FROM placed WHERE place <= $8 AND member <= $9
		), bins AS (
			SELECT bin, count(*) FILTER (WHERE NOT of_shown) AS number, coalesce(bool_or(of_shown), false) AS of_shown
			FROM generate_series(0, 20) AS bin LEFT JOIN (
				SELECT of_shown, CASE WHEN similarity >= 1 THEN 20 WHEN similarity >= $2 THEN least(19, floor(20 * (similarity - $2) / (1 - $2) + 1e-9)) END::int AS bin
				FROM (SELECT similarity, false AS of_shown FROM found UNION ALL SELECT similarity, true FROM chosen) AS f) AS f USING (bin)
			GROUP BY bin
		)
		SELECT count(*) AS pairs, count(*) FILTER (WHERE similarity >= 1) AS equal, (SELECT count(*) FROM chosen) AS shown, min(a) FILTER (WHERE a = b) AS itself,
			(SELECT array_agg(number ORDER BY bin) FROM bins) AS bins, (SELECT array_agg(of_shown ORDER BY bin) FROM bins) AS shown_bins,
			(SELECT array_agg(ROW(n, place, member, members, size, similarity, NULL, NULL, ARRAY[a, b], NULL, NULL, NULL, NULL, NULL)::%s.neardup_review_pair ORDER BY n) FROM chosen) AS chosen
		FROM found$pairs$,
		CASE WHEN pairs IS NOT NULL THEN format('SELECT format(''%%s'', p.a) AS a, format(''%%s'', p.b) AS b, p.similarity, 2::bigint AS size
				FROM (SELECT p.a, p.b, nullif(format(''%%s'', p.similarity), '''')::float8 AS similarity FROM %s AS p) AS p WHERE p.similarity >= $2', pairs)
			WHEN kind = 'judge' THEN format('SELECT a, b, ordinality::float8 AS similarity, 2::bigint AS size FROM %s.neardup_pairs_to_judge(%L, $8, $3) WITH ORDINALITY', '@extschema@',
				format('SELECT id, %s FROM (%s) AS q (id, body) WHERE body IS NOT NULL', format(readable, 'format(''%s'', body)'), found.query))
			WHEN kind = 'clusters' THEN format('SELECT format(''%%s'', keeper) AS a, format(''%%s'', id) AS b, similarity, size
				FROM %s.neardup_clusters($1, $2, NULL::%s, false, NULL::text, ''star''::text, false, NULL::float8, 1.0::float8, ''resemblance''::text, $3, $4) WHERE (ROW(id)::record) *<> (ROW(keeper)::record)', '@extschema@', found.type)
			ELSE format('SELECT format(''%%s'', a) AS a, format(''%%s'', b) AS b, similarity, 2::bigint AS size
				FROM %s.neardup_pairs($1, $2, NULL::%s, false, NULL::text, ''first''::text, NULL::float8, 1.0::float8, ''resemblance''::text, $3, $4)', '@extschema@', found.type) END, '@extschema@')
		INTO counts USING found.query, threshold, found.verdicts, within, sort, below, kind, listed, members;
	IF counts.itself IS NOT NULL THEN
		RAISE EXCEPTION '"pairs" has a pair of id % with itself', regexp_replace(counts.itself, found.unseen, ' ', 'g') USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out: WHERE a <> b.';
	END IF;
	chosen := counts.chosen;

	-- Texts are read up to a length, so that one very long text does not keep all others waiting.
	FOR pair IN EXECUTE format($texts$
			WITH docs AS MATERIALIZED (
				SELECT id COLLATE "C" AS id, missing, length(body) AS length, left(body, $3) AS body, sha256(convert_to(body, $4)) AS digest, title, signature
				FROM (SELECT %1$s AS id, t.%2$I IS NULL AS missing, format('%%s', t.%2$I) COLLATE "C" AS body, %3$s COLLATE "C" AS title, %4$s AS signature FROM %5$s AS t WHERE %1$s COLLATE "C" = ANY ($2)) AS d
			)
			SELECT p.n, p.place, p.member, p.members, p.size, p.similarity, x.digest = y.digest AND NOT x.missing AND NOT y.missing, x.signature || ' ' || y.signature, p.ids, ARRAY[x.title, y.title],
				ARRAY[x.missing, y.missing], ARRAY[x.length, y.length], ARRAY[x.body, y.body], ARRAY[%6$s, %7$s]
			FROM unnest($1) AS p JOIN docs AS x ON x.id = p.ids[1] JOIN docs AS y ON y.id = p.ids[2] ORDER BY p.n$texts$,
			format(found.key, 't'), texts, CASE WHEN show IS NULL THEN 'NULL::text' ELSE format('format(''%%s'', t.%I)', show) END,
			CASE WHEN review.exactly THEN format('format(''%%s'', t.%I)', found.signature) ELSE 'NULL::text' END, relation, format(readable, 'x.body'), format(readable, 'y.body'))
			USING chosen, ARRAY(SELECT DISTINCT id FROM unnest(chosen) AS c, unnest(c.ids) AS id), review.compared, review.encoding LOOP
		CALL @extschema@.neardup_review_pair(review, pair, html, exact);
		lines := lines || html;
	END LOOP;
	CALL @extschema@.neardup_review_top(review, CASE kind WHEN 'judge' THEN 'in random order' ELSE format('similarity %s and above%s, %s', threshold, ', below ' || below,
			CASE sort WHEN 'lowest' THEN 'lowest first' WHEN 'highest' THEN 'highest first' ELSE 'largest clusters first' END) END,
		signed.rows, counts.pairs, counts.equal, counts.shown, counts.bins, counts.shown_bins, exact, pairs IS NOT NULL, html);
	CALL @extschema@.neardup_review_look(style, script);
	RETURN format(E'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
			'<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; script-src &#39;sha256-%s&#39;; style-src &#39;sha256-%s&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"/>\n'
			'<meta name="viewport" content="width=device-width, initial-scale=1"/>\n<meta name="color-scheme" content="light dark"/>\n<meta name="referrer" content="no-referrer"/>\n'
			'<title>Near-duplicates of %s</title>\n<style>%s</style>\n</head>\n<body>\n%s\n',
			encode(sha256(convert_to(script, 'UTF8')), 'base64'), encode(sha256(convert_to(style, 'UTF8')), 'base64'), review.shown, style, html)
		|| concat(array_to_string(lines, E'\n') || E'\n')
		|| format(E'</main>\n<nav class="keys" aria-label="Pairs" hidden="hidden">\n<div class="verdicts" role="group" aria-label="Verdict">'
			'<button type="button" value="t" aria-pressed="false">Same</button> <button type="button" value="f" aria-pressed="false">Different</button> '
			'<button type="button" value="\\N" aria-pressed="false">Unsure</button></div>\n<button type="button" class="previous" aria-label="Previous pair">&#8592;</button>\n'
			'<output aria-live="polite"></output>\n<button type="button" class="next" aria-label="Next pair">&#8594;</button>\n<button type="button" class="save">Save verdicts</button>\n'
			'<span class="lost" hidden="hidden">This browser keeps no progress: save verdicts before you close the page.</span>\n'
			'<span class="help"><kbd>s</kbd> same, <kbd>d</kbd> different, <kbd>u</kbd> unsure, <kbd>a</kbd> all of both texts, <kbd>j</kbd> or <kbd>&#8594;</kbd> next, <kbd>k</kbd> or <kbd>&#8592;</kbd> '
			'previous; click a shared passage to find it in the other text</span>\n'
			'</nav>\n<script>%s</script>\n</body>\n</html>', script);
END $$;
COMMENT ON FUNCTION neardup_review_page(pg_catalog.regclass, pg_catalog.text, pg_catalog.float8, pg_catalog.name, pg_catalog.text, pg_catalog.name[], pg_catalog.regclass, pg_catalog.name, int,
		pg_catalog.regclass, pg_catalog.text, pg_catalog.float8, int, int, int, pg_catalog.text, pg_catalog.name[], pg_catalog.name, boolean) IS
	'an HTML page with pairs of a table''s texts side by side, on which a person judges them';
