-- neardup-review.sql: shows pairs of a table's texts on an HTML page, side by side, with what
-- differs, and lets a person judge them.
--
--   psql -v table=proposals -v output=review.html [-v id=id] [-v sig=sig] [-v text=body]
--        [-v title=title] [-v show=pairs|clusters|judge] [-v threshold=0.8] [-v below=0.9]
--        [-v sort=lowest|highest|largest] [-v order_by='length(body) DESC'] [-v limit=60]
--        [-v judged='SELECT a, b, same FROM public.verdicts'] [-v members=4] [-v chars=20000]
--        [-v pairs='SELECT a, b, similarity FROM public.sources'] [-v min_tokens=3]
--        [-v 'scheme=word 3'] -f neardup-review.sql
--
-- The page is one file that loads nothing.  Without output it goes to standard output.  The
-- script changes nothing, and runs on a standby too.  See doc/reference/scripts.md.

\set ON_ERROR_STOP on
\if :{?text} \else \set text body \endif
\if :{?title} \else \set title '' \endif
\if :{?show} \else \set show pairs \endif
\if :{?below} \set under :below \else \set under infinity \endif
\if :{?sort} \else \set sort lowest \endif
\if :{?order_by} \else \set order_by '' \endif
\if :{?limit} \set most :limit \else \set most 60 \endif
\if :{?judged} \else \set judged '' \endif
\if :{?pairs} \else \set pairs '' \endif
\if :{?members} \else \set members 4 \endif
\if :{?chars} \else \set chars 20000 \endif
\if :{?min_tokens} \else \set min_tokens 3 \endif
\if :{?scheme} \set shared :scheme \else \set shared 'word 3' \endif
\if :{?output} \else \set output '' \endif
\set changes no
\set functions '{neardup_clusters,neardup_pairs,neardup_pairs_to_judge,shared_passages,to_shingles,similarity,cardinality,to_minhash,minhash_error}'
\ir neardup-begin.sql
BEGIN;
:check_trust \g /dev/null
\ir neardup-review-page.sql

-- Pairs to judge are drawn from the texts, and need no signatures; nor do pairs of a query.
SELECT :'show' = 'judge' AS judge, :'pairs' <> '' AS given, :'show' = 'judge' OR :'pairs' <> '' AS unsigned
\gset
SELECT CASE WHEN :'unsigned' THEN :'text' ELSE :'sig' END AS sig
\gset
SELECT :raise
FROM (VALUES ('id', :'id', 'columns'), ('text', :'text', 'a column'), ('sig', :'sig', 'a column'), ('show', :'show', 'pairs, clusters or judge'),
	('sort', :'sort', 'lowest, highest or largest'), ('below', nullif(:'under', 'infinity'), 'a number above 0 up to 1'), ('limit', :'most', 'a whole number from 1 up to 1000000'),
	('members', :'members', 'a whole number from 1 up to 1000000'), ('chars', :'chars', 'a whole number from 100 up to 1000000'),
	('min_tokens', :'min_tokens', 'a whole number from 1 up to 1000000')) v (name, value, allowed)
	:unfit
\gexec
SELECT :raise
FROM (VALUES (:'sort' = 'largest' AND :'show' <> 'clusters', 'sort', :'sort', 'Only clusters can be sorted by size, with -v show=clusters.'),
		(:'given' AND :'show' <> 'pairs', 'show', :'show', 'The pairs of a query are shown as pairs.'),
		-- psql would run the one as a command, and read the other as options.
		(:'output' ~ '^[|(]', 'output', :'output', 'Name a file, which must not begin with | or (.')
	) v (bad, name, value, hint), format('"%s" is not a value of %s', value, name) message
WHERE bad
\gexec

SELECT :attempt
FROM (VALUES ('scheme', :'shared', format('PERFORM %s.shared_passages('''', '''', %L, 1);', :'ext', :'shared'), NULL),
	('judged', :'judged', format('OPEN rows FOR EXECUTE %L;', :'judged'), 'Name the table with its schema: ''SELECT a, b, same FROM public.verdicts''.'),
	('pairs', :'pairs', format('OPEN rows FOR EXECUTE %L;', format('SELECT a::%s, b::%1$s, similarity::float8 FROM (%s) p', :'id_type', :'pairs')),
		'Name the table with its schema: ''SELECT a, b, similarity FROM public.sources''.')) v (name, value, code, hint)
WHERE value <> ''
\gexec

-- Texts are read up to a length, so that one very long text does not keep all others waiting.
SELECT 10 * :'chars'::int AS compared, :'show' = 'clusters' AS clusters, :'output' <> '' AS to_file,
	least(80, :'chars'::int / 10) AS shared_ends, least(400, :'chars'::int / 10) AS other_ends,
	CASE WHEN :'title' = '' THEN 'NULL' ELSE format('%I', :'title') END AS title_value,
	page_encoding, format(ascii, 'a') AS ascii_a, format(ascii, 'b') AS ascii_b, format(ascii, format('format(''%%s'', %I)', :'text')) AS ascii_text
-- In SQL_ASCII the extension reads ASCII only; positions stay the same.
FROM (SELECT 'SQL_ASCII' AS page_encoding, 'regexp_replace(%s, ''[^\u0001-\u007f]'', ''?'', ''g'')' AS ascii WHERE getdatabaseencoding() = 'SQL_ASCII'
	UNION ALL SELECT 'UTF8', '%s' WHERE getdatabaseencoding() <> 'SQL_ASCII') e
\gset

-- Hashes made elsewhere are compared as signatures, and ids of pairs to judge as text.
WITH RECURSIVE base AS (
	SELECT atttypid AS type FROM pg_attribute WHERE attrelid = :'table_oid'::oid AND attname = :'sig' AND NOT attisdropped
	UNION ALL
	SELECT typbasetype FROM base JOIN pg_type t ON t.oid = type WHERE typtype = 'd'
)
SELECT "table", signature, format('SELECT %s::%s, %s%s FROM %s WHERE %I IS NOT NULL ORDER BY %s', :'id_key', :'id_type', signature, CASE WHEN NOT :'judge' THEN :'within_list' END, "table", :'sig',
		coalesce(nullif(:'order_by', ''), :'id_order')) AS query,
	CASE WHEN :'judge' THEN format('format(''%%s'', %s)', :'id_key') ELSE :'id_key' END AS id_value, CASE WHEN :'judge' THEN 'OPERATOR(pg_catalog.=)' ELSE :'equals' END AS equals
FROM (SELECT :'table_oid'::oid::regclass AS "table", CASE WHEN :'unsigned' THEN :'ascii_text' ELSE coalesce((
		SELECT format('%I::%s.%s', :'sig', :'ext', CASE WHEN type = 'bit'::regtype THEN 'minhash' ELSE 'simhash' END)
		FROM base WHERE type IN ('bigint'::regtype, 'bit'::regtype)), format('%I', :'sig')) END AS signature) t
\gset
:check_order
\gexec
-- The order in which pairs to judge were drawn stands for their similarity, which is not shown.
SELECT format(CASE WHEN :'judge' THEN 'SELECT a, b, ordinality::float8 AS similarity, 2::bigint AS size
			FROM %1$s.neardup_pairs_to_judge(%2$L::text, %6$s::int, judged => %7$L::text) WITH ORDINALITY'
		WHEN :'given' THEN 'SELECT a, b, similarity, 2::bigint AS size
			FROM (SELECT a::%4$s AS a, b::%4$s AS b, similarity::float8 AS similarity FROM (%9$s) q) p WHERE similarity >= %3$L::float8'
		WHEN :'clusters' THEN 'SELECT keeper AS a, id AS b, similarity, size FROM %1$s.neardup_clusters(%2$L::text, %3$L::float8, NULL::%4$s,
			false, NULL::text, ''star''::text, false, NULL::float8, 1.0::float8, ''resemblance''::text, NULL::text, %8$L::name[]) WHERE NOT id %5$s keeper'
		ELSE 'SELECT a, b, similarity, 2::bigint AS size FROM %1$s.neardup_pairs(%2$L::text, %3$L::float8, NULL::%4$s,
			false, NULL::text, ''first''::text, NULL::float8, 1.0::float8, ''resemblance''::text, NULL::text, %8$L::name[])' END,
	:'ext', :'query', :'least', :'id_type', :'equals', :'most', nullif(:'judged', ''), :'within_names', :'pairs') AS source
\gset

-- The one place where values become HTML, as an expression of raw and unseen.  Invisible
-- characters, and those that change the direction of others, are shown as their codes.
SELECT $html$
	(SELECT coalesce(string_agg(CASE WHEN piece ~ unseen THEN format('<code>%s</code>', upper(lpad(to_hex(ascii(piece)), 4, '0')))
			ELSE replace(replace(replace(replace(replace(piece, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;')
			END, '' ORDER BY place), '')
	FROM regexp_matches(raw, unseen || '|' || replace(unseen, '[', '[^') || '+', 'g') WITH ORDINALITY m (found, place),
		LATERAL (SELECT found[1]) f (piece))
	$html$ AS html
\gset
\set commas FM999,999,999,999,990

\pset tuples_only on
\pset format unaligned
\pset expanded off
\pset recordsep '\n'
\timing off
\set FETCH_COUNT 0
-- A database in SQL_ASCII has bytes of any encoding, which are sent as they are.
\encoding :page_encoding

WITH docs AS NOT MATERIALIZED (
	SELECT :id_value AS id, :signature AS signature, :"text" IS NULL AS missing, format('%s', :"text") COLLATE "C" AS body, format('%s', :title_value) COLLATE "C" AS title
	FROM :table
), signature AS MATERIALIZED (
	SELECT split_part(shown, '/', 2) AS scheme, shown ~ '^\d+/(word|char|anychar|stopword) \d+/\d+x' AS exactly,
		substring(shown FROM '^\d+/[^/]*/(\d+)x\d')::int AS k, substring(shown FROM '^\d+/[^/]*/\d+x(\d+)')::int AS b
	FROM (VALUES (1)) one LEFT JOIN (SELECT left(format('%s', :signature), 100) AS shown FROM :table WHERE :"sig" IS NOT NULL AND NOT :'unsigned' LIMIT 1) s ON true
), settings AS MATERIALIZED (
	SELECT :'unseen'::text COLLATE "C" AS unseen

-- ---- Which pairs ----

), found AS MATERIALIZED (
	:source
), ranked AS (
	SELECT *, row_number() OVER (cluster ORDER BY similarity, b) AS member, count(*) OVER cluster AS members,
		CASE :'sort' WHEN 'lowest' THEN min(similarity) OVER cluster WHEN 'highest' THEN -max(similarity) OVER cluster ELSE -size END AS key
	FROM found WHERE similarity < :'under'::float8 OR :'judge'
	WINDOW cluster AS (PARTITION BY a, CASE WHEN NOT :'clusters' THEN b END)
), placed AS (
	SELECT *, dense_rank() OVER (ORDER BY key, a, CASE WHEN NOT :'clusters' THEN b END) AS place FROM ranked
), chosen AS MATERIALIZED (
	SELECT *, row_number() OVER (ORDER BY place, member) AS n
	FROM placed WHERE place <= :'most'::int AND member <= :'members'::int
), items AS MATERIALIZED (
	SELECT n, place, member, members, size, similarity, x.body = y.body AND NOT x.missing AND NOT y.missing AS same,
		ARRAY[format('%s', x.id), format('%s', y.id)] COLLATE "C" AS ids, ARRAY[x.title, y.title] AS titles, ARRAY[x.missing, y.missing] AS missing,
		ARRAY[length(x.body), length(y.body)] AS lengths,
		CASE WHEN (SELECT exactly FROM signature) THEN format('%s %s', x.signature, y.signature) END AS signatures, left(x.body, :compared) AS a, left(y.body, :compared) AS b
	FROM chosen JOIN docs x ON x.id :equals a JOIN docs y ON y.id :equals b

-- ---- What their texts share ----

), compared AS (
	SELECT items.*, a_read, b_read, a_starts, a_counts, b_starts, b_counts
	FROM items, LATERAL (SELECT :ascii_a, :ascii_b) r (a_read, b_read),
		LATERAL (SELECT array_agg(a_start ORDER BY place), array_agg(a_length ORDER BY place), array_agg(b_start ORDER BY place), array_agg(b_length ORDER BY place)
			FROM :ext.shared_passages(a_read, b_read, :'shared'::text, :'min_tokens'::int) WITH ORDINALITY p (a_start, a_length, b_start, b_length, tokens, place)
			WHERE NOT same) p (a_starts, a_counts, b_starts, b_counts)

-- ---- HTML ----

), named AS MATERIALIZED (
	SELECT max(html) FILTER (WHERE kind = 'table') AS "table", max(html) FILTER (WHERE kind = 'column') AS "column", max(html) FILTER (WHERE kind = 'signed') AS signed
	FROM (SELECT kind, :html AS html
		FROM settings, signature, LATERAL (VALUES ('table', :'table'), ('column', :'id'), ('signed', scheme)) v (kind, value), LATERAL (SELECT value COLLATE "C") r (raw)) e
), articles AS (
	SELECT n, exact, CASE WHEN :'clusters' AND member = 1 THEN format(E'<h2>Cluster %s: %s rows</h2>\n<p class="soft">%s of the %s other rows, each beside the row that is kept; the least similar first</p>\n',
			place, to_char(size, :'commas'), to_char(least(members, :'members'::int), :'commas'), to_char(size - 1, :'commas')) ELSE '' END
		|| format(E'<article id="p%s" tabindex="-1" aria-labelledby="h%1$s" data-row="%s" data-key="%s">\n<header><h3 id="h%1$s">Pair %1$s%4$s%5$s</h3>%6$s</header>\n', n,
			encode(convert_to(rows, :'page_encoding'), 'hex'), hashtextextended(concat(current_database(), :'table', rows, compared.a, compared.b), 0),
			CASE WHEN NOT :'judge' THEN format(': similarity <strong>%s</strong>', to_char(similarity, 'FM0.000')) END,
			' ' || nullif(concat_ws(', ', '&#177; ' || to_char(error, 'FM0.000') || ' estimated', to_char(exact, 'FM0.000') || ' exact', CASE WHEN same THEN 'the texts are the same' END), ''),
			CASE WHEN concat(texts[1], texts[2]) LIKE '%<span class="fold">%' THEN ' <label><input type="checkbox"/> all of both texts</label>' END)
		|| CASE WHEN same THEN format(E'<div class="sides same">\n<section>\n%s</section>\n<section>\n%s</section>\n%s</div>\n', heads[1], heads[2], texts[1])
			ELSE format(E'<div class="sides">\n<section>\n%s%s</section>\n<section>\n%s%s</section>\n</div>\n', heads[1], texts[1], heads[2], texts[2]) END
		|| E'</article>' AS html
	FROM compared, signature, LATERAL (
		SELECT CASE WHEN k IS NOT NULL AND scheme <> 'foreign' THEN :ext.minhash_error(k, signature.b, similarity) END,
			-- Signatures may be of another text, such as one without markup.
			CASE WHEN exactly AND signatures = format('%s %s', :ext.to_minhash(a_read, k, signature.b, scheme), :ext.to_minhash(b_read, k, signature.b, scheme))
				THEN :ext.similarity(:ext.to_shingles(a_read, scheme), :ext.to_shingles(b_read, scheme)) END
		) e (error, exact), LATERAL (
		-- The ids as COPY writes them.
		SELECT string_agg(replace(replace(replace(replace(ids[side], E'\\', E'\\\\'), E'\t', E'\\t'), E'\n', E'\\n'), E'\r', E'\\r') || E'\t', '' ORDER BY side)
		FROM (VALUES (1), (2)) v (side)
		) c (rows), LATERAL (
		SELECT array_agg(head ORDER BY side), array_agg(html ORDER BY side)
		FROM (VALUES (1, compared.a, a_read, a_starts, a_counts), (2, compared.b, b_read, b_starts, b_counts)) t (side, body, read, starts, counts), LATERAL (

			-- One text: which parts of it are in the other, and how much of it is shown.
			WITH apart AS (
				-- Passages may overlap: what an earlier one has is not marked twice.
				SELECT * FROM (
					SELECT passage, start + length AS after, greatest(start, max(start + length) OVER (ORDER BY start, start + length, passage
						ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS first
					FROM unnest(starts, counts) WITH ORDINALITY u (start, length, passage)) m
				WHERE first < after
			), pieces AS (
				SELECT first, after, passage FROM apart
				UNION ALL SELECT lag(after, 1, 1) OVER (ORDER BY first), first, NULL FROM apart
				UNION ALL SELECT coalesce(max(after), 1), length(body) + 1, NULL FROM apart
			), ends AS (
				SELECT first, after, passage, ends, after - first - seen AS hidden, seen
				FROM pieces, LATERAL (SELECT CASE WHEN passage IS NULL THEN :other_ends ELSE :shared_ends END) e (ends),
					LATERAL (SELECT CASE WHEN after - first > 3 * ends THEN 2 * ends ELSE after - first END) s (seen)
				WHERE first < after
			), rooms AS (
				-- First the ends of all pieces have room, then what is between them.
				SELECT *, (:'chars'::int - sum(seen) OVER before + seen)::int AS room, (:'chars'::int - sum(seen) OVER () - sum(hidden) OVER before + hidden)::int AS rest
				FROM ends WINDOW before AS (ORDER BY first)
			), shown AS (
				SELECT first, after, passage, ends, hidden, hidden > 0 AND room >= seen AS split, least(room, seen) AS seen, greatest(0, least(rest, hidden)) AS folded
				FROM rooms WHERE room > 0
			), data AS (
				SELECT first, part, CASE WHEN part = 2 THEN hidden - folded ELSE 0 END AS number, CASE WHEN part = 2 AND folded > 0 THEN hidden END AS hidden,
					CASE WHEN NOT split THEN substr(body, first, seen) WHEN part = 1 THEN substr(body, first, ends) WHEN part = 2 THEN substr(body, first + ends, folded)
						ELSE substr(body, after - ends, ends) END AS raw,
					-- A text that is shown for two has no marks; what is not compared has none either.
					CASE WHEN same THEN 'between' WHEN passage IS NOT NULL THEN format('<mark data-passage="%s">', passage)
						WHEN after > :compared OR :ext.cardinality(:ext.to_shingles(substr(read, first, after - first), 'word 1'::text)) = 0 THEN 'between'
						ELSE 'differs' END AS kind
				FROM shown, LATERAL (VALUES (1), (2), (3)) p (part)
				WHERE part = 1 OR split
				UNION ALL
				SELECT 0, 0, greatest(0, length(value) - 200), NULL, left(value, 200), kind FROM (VALUES (ids[side], 'id'), (titles[side], 'title')) v (value, kind)
			), escaped AS (
				SELECT first, part, kind, concat('<span class="cut brief">' || to_char(hidden, :'commas') || ' characters</span><span class="fold">', CASE
						WHEN kind = 'differs' THEN regexp_replace(html, '^(\s*)(.*\S)(\s*)$', '\1<b>\2</b>\3')
						WHEN kind LIKE '<mark%' THEN regexp_replace(html, '^(\s*)(.+)$', '\1' || kind || '\2</mark>') ELSE html END,
					CASE WHEN number > 0 THEN format('<span class="cut">%s characters</span>', to_char(number, :'commas')) END, CASE WHEN hidden > 0 THEN '</span>' END) AS html
				FROM settings, data, LATERAL (SELECT :html) e (html)
			), sums AS (
				SELECT (SELECT coalesce(max(CASE WHEN split THEN after ELSE first + seen END) - 1, 0) FROM shown) AS last,
					(SELECT coalesce(sum(after - first), 0) FROM apart) AS shared
			)
			SELECT format(E'<h4><span class="soft">%s</span> <bdi>%s</bdi>%s</h4>\n<p class="facts">%s</p>\n', named."column", max(html) FILTER (WHERE kind = 'id'),
					' <bdi class="title">' || nullif(max(html) FILTER (WHERE kind = 'title'), '') || '</bdi>',
					CASE WHEN missing[side] THEN 'The text is NULL.' ELSE to_char(lengths[side], :'commas') || ' characters' END
					|| CASE WHEN NOT same AND lengths[side] > 0 AND NOT :'judge' THEN format(', %s %% shared', floor(100.0 * shared / length(body))) ELSE '' END) AS head,
				format(E'<div class="text" lang="" dir="auto">%s%s</div>\n',
					string_agg(html, '' ORDER BY first, part) FILTER (WHERE kind NOT IN ('id', 'title')),
					CASE WHEN lengths[side] > last THEN format(' <span class="cut end">%s more characters%s</span>', to_char(lengths[side] - last, :'commas'),
						CASE WHEN lengths[side] > :compared AND NOT same THEN format(' (the last %s are not compared)', to_char(lengths[side] - :compared, :'commas')) END) END) AS html
			FROM escaped, sums, named
			GROUP BY last, shared, named."column"
			) h
		) s (heads, texts)

-- ---- The histogram ----

), bins AS MATERIALIZED (
	SELECT bin, count(*) FILTER (WHERE NOT of_shown) AS pairs, coalesce(bool_or(of_shown), false) AS "in"
	FROM generate_series(0, 20) bin LEFT JOIN (
		SELECT of_shown, CASE WHEN similarity >= 1 THEN 20 ELSE least(19, floor(20 * (similarity - :'least'::float8) / (1 - :'least'::float8) + 1e-9)) END::int AS bin
		FROM (SELECT similarity, false AS of_shown FROM found UNION ALL SELECT similarity, true FROM chosen) f) f USING (bin)
	GROUP BY bin
), heights AS (
	SELECT *, greatest(1, coalesce(nullif(max(pairs) FILTER (WHERE bin < 20) OVER (), 0), max(pairs) OVER ())) AS highest,
		CASE WHEN bin = 20 THEN 'equal signatures' ELSE format('%s to %s', to_char(low, 'FM0.000'), to_char(low + width, 'FM0.000')) END AS name
	FROM bins, LATERAL (SELECT (1 - :'least'::float8) / 20) w (width), LATERAL (SELECT :'least'::float8 + bin * width) l (low)
), histogram AS (
	SELECT string_agg(format('<rect%s x="%s" y="%s" width="0.9" height="%s"><title>%s: %s</title></rect>', CASE WHEN "in" THEN ' class="in"' END,
			bin + CASE WHEN bin = 20 THEN 1.05 ELSE 0.05 END, round(100 - height, 2), round(height, 2), name, to_char(pairs, :'commas'))
			-- The bar of equal ones may be much higher than all others: it is cut, and says so.
			|| CASE WHEN pairs > highest THEN E'\n<path class="break" d="M20.9 20L22.1 12v6L20.9 26z"/>' ELSE '' END, E'\n' ORDER BY bin) AS bars,
		E'\n<p class="over" id="cut">' || to_char(max(pairs) FILTER (WHERE pairs > highest), :'commas') || ' are equal: this bar is cut</p>' AS mark,
		string_agg(format('<tr><td>%s</td><td>%s</td></tr>', name, to_char(pairs, :'commas')), E'\n' ORDER BY bin) AS rows
	FROM heights, LATERAL (SELECT CASE WHEN pairs > 0 THEN greatest(2, least(1, pairs::numeric / highest) * 100) ELSE 0 END) h (height)
), counts AS (
	SELECT (SELECT count(*) FROM :table WHERE :"sig" IS NOT NULL) AS signed, count(*) AS pairs, count(*) FILTER (WHERE similarity >= 1) AS equal,
		(SELECT count(*) FROM items) AS shown
	FROM found
), lines AS (
	SELECT -1 AS n, format(E'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
		'<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; script-src &#39;sha256-%s&#39;; style-src &#39;sha256-%s&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"/>\n'
		'<meta name="viewport" content="width=device-width, initial-scale=1"/>\n<meta name="color-scheme" content="light dark"/>\n<meta name="referrer" content="no-referrer"/>\n'
		'<title>Near-duplicates of %s</title>\n<style>%s</style>\n</head>\n<body>',
		encode(sha256(convert_to(:'script', 'UTF8')), 'base64'), encode(sha256(convert_to(:'style', 'UTF8')), 'base64'), "table", :'style') AS html
	FROM named
	UNION ALL
	SELECT 0, format(E'<header>\n<div class="top">\n<div>\n<h1>%s <bdi>%s</bdi></h1>\n<p class="soft">%s, %s</p>\n', CASE WHEN :'judge' THEN 'Pairs to judge of' ELSE 'Near-duplicates of' END, "table",
			CASE WHEN :'judge' THEN 'in random order' ELSE format('similarity %s and above%s, %s', :'least'::float8, CASE WHEN :'under'::float8 <= 1 THEN format(', below %s', :'under'::float8) END,
				CASE :'sort' WHEN 'lowest' THEN 'lowest first' WHEN 'highest' THEN 'highest first' ELSE 'largest clusters first' END) END, to_char(now(), 'YYYY-MM-DD HH24:MI'))
		|| CASE WHEN :'judge' THEN '</div>' ELSE format(
			E'<dl>\n<div><dt>rows%s</dt><dd>%s</dd></div>\n<div><dt>%s</dt><dd>%s</dd></div>\n<div><dt>equal signatures</dt><dd>%s</dd></div>\n<div><dt>shown</dt><dd>%s</dd></div>\n</dl>\n</div>\n'
			'<figure>\n<figcaption id="figure">%s%s</figcaption>%s\n<svg viewBox="0 0 22 100" preserveAspectRatio="none" role="img" aria-labelledby="figure%s">\n%s\n</svg>\n'
			'<div class="axis" aria-hidden="true"><span>%s</span><span>%s</span><span>%s</span><span>%s</span><span>equal</span></div>\n'
			'<details><summary>as a table</summary>\n<table>\n<tr><th scope="col">similarity</th><th scope="col">pairs</th></tr>\n%s\n</table>\n</details>\n</figure>',
			CASE WHEN NOT :'given' THEN ' signed' END, to_char(counts.signed, :'commas'), CASE WHEN :'clusters' THEN 'near-duplicates' ELSE 'pairs' END, to_char(pairs, :'commas'), to_char(equal, :'commas'), to_char(shown, :'commas'),
			CASE WHEN :'clusters' THEN 'Rows by similarity to the row that is kept' ELSE 'Pairs by similarity' END,
			CASE WHEN shown > 0 THEN format('. Blue bars have %s that are shown below.', CASE WHEN :'clusters' THEN 'rows' ELSE 'pairs' END) END, mark, CASE WHEN mark <> '' THEN ' cut' END, bars, ticks[1], ticks[2], ticks[3], ticks[4], rows) END
		|| format(E'\n</div>\n<p class="legend"><mark>Shared</mark>: in a run of %s words and more that both texts have. <b>Different</b>: words in no such run.%s</p>\n</header>\n<main>%s', :'min_tokens'::int,
			CASE WHEN k IS NOT NULL THEN ' The estimate is that of the signatures, with one standard error.' END
				|| CASE WHEN EXISTS (SELECT FROM articles WHERE exact IS NOT NULL) THEN format(' The exact similarity is that of all shingles (%s) of the texts.', named.signed) ELSE '' END,
			CASE WHEN shown = 0 THEN E'\n<p>There are none.</p>' END)
	FROM named, counts, histogram, signature,
		LATERAL (SELECT array_agg(to_char(:'least'::float8 + i * (1 - :'least'::float8) / 4, 'FM0.009') ORDER BY i) FROM generate_series(0, 3) i) t (ticks)
	UNION ALL SELECT n, html FROM articles
	UNION ALL
	SELECT 9223372036854775807, format(E'</main>\n<nav class="keys" aria-label="Pairs" hidden="hidden">\n<div class="verdicts" role="group" aria-label="Verdict">'
		'<button type="button" value="t" aria-pressed="false">Same</button> <button type="button" value="f" aria-pressed="false">Different</button> '
		'<button type="button" value="\\N" aria-pressed="false">Unsure</button></div>\n<button type="button" class="previous" aria-label="Previous pair">&#8592;</button>\n'
		'<output aria-live="polite"></output>\n<button type="button" class="next" aria-label="Next pair">&#8594;</button>\n<button type="button" class="save">Save verdicts</button>\n'
		'<span class="lost" hidden="hidden">This browser keeps no progress: save verdicts before you close the page.</span>\n'
		'<span class="help"><kbd>s</kbd> same, <kbd>d</kbd> different, <kbd>u</kbd> unsure, <kbd>a</kbd> all of both texts, <kbd>j</kbd> or <kbd>&#8594;</kbd> next, <kbd>k</kbd> or <kbd>&#8592;</kbd> '
		'previous; click a shared passage to find it in the other text</span>\n'
		'</nav>\n<script>%s</script>\n</body>\n</html>', :'script')
)
SELECT html FROM lines ORDER BY n
\if :to_file
	\g :output
	\echo 'page written to' :output
\else
	\g
\endif
COMMIT;
SELECT set_config('search_path', :'old_path', false) \g /dev/null
