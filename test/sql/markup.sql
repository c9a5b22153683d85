-- strip_markup() removes markup and keeps text, and mask_changing() removes what changes by itself.

SELECT id, strip_markup(html) FROM (VALUES
	(1, 'plain text stays'),
	(2, '<html><head><title>A title</title><style>p { color: red }</style></head><body><p>One</p><p>two <b>bo</b>ld.</p></body></html>'),
	(3, 'before<!-- a comment with <b>tags</b> and -- dashes -->after'),
	(4, '<script type="text/javascript">if (a < b && c > d) { x = "</p>"; }</script>text'),
	(5, '<SCRIPT>hidden</sCrIpT  >shown<Style>hidden</STYLE>shown'),
	(6, '<a href="x>y" title=''>''>link</a> <img src=a.png alt="not > shown"/>text'),
	(7, 'H<sub>2</sub>O, x<br>y<br/>z, <li>item</li><li>item</li>'),
	(8, '1 < 2 and 3 > 2, a <- b, <3, </ , <'),
	(9, '<?xml version="1.0"?><!DOCTYPE html><doc><![CDATA[a < b & <c>]]></doc>'),
	(10, '<p don''t="x">it''s</p><p class = "a>b">spaced</p>'),
	(11, '<scripted>shown</scripted><script>hidden</scripts>hidden</script>shown')
) AS v(id, html) ORDER BY id;

-- Entities: named, numbered, and text that only looks like one
SELECT id, strip_markup(html) FROM (VALUES
	(1, 'a &lt;b&gt; &amp; &quot;c&quot; &apos;d&apos;'),
	(2, 'caf&eacute; &Eacute; &euro; &hellip; &thetasym; &Alpha;'),
	(3, '&#65;&#x42;&#X43; &#8364; &#x1F600;'),
	(4, '&#146;quoted&#148; &#128;'),
	(5, '&nothing; & &; &# &#; &#x; &#xg; &lt &amp'),
	(6, '&amp;lt; is decoded once'),
	(7, 'AT&T; R&D, &ThisIsNoEntity;')
) AS v(id, html) ORDER BY id;
SELECT strip_markup('&#0;&#xD800;&#x110000;&#99999999999999999999;') = repeat(U&'\FFFD', 4) AS replaced;

-- Markup that is not closed runs to the end; nothing is an error
SELECT quote_literal(strip_markup(html)) AS stripped FROM unnest(ARRAY['', '<', '<a', '<a href="x', '<!--', '<!-- a -- >b', '<script>a</script', '<style>a', '<![CDATA[a]]', '<!', '<?x', '&', '</', '<p', 'a<p']) AS html;
-- Every prefix and every suffix of a document
WITH d(html) AS (SELECT '<!DOCTYPE html><p a="b>c">x&eacute;<!-- y --><script>z</script><![CDATA[w]]>&#65;</p>')
SELECT count(strip_markup(left(html, i))) + count(strip_markup(right(html, i))) AS survived FROM d, generate_series(0, length(html)) AS i;
-- Other scripts are kept
SELECT rtrim(strip_markup(U&'<p>\6771\4EAC<b>\90FD</b></p>')) = U&'\6771\4EAC\90FD' AS kept;
-- Linear time: a megabyte of markup that other parsers are slow on
SELECT length(strip_markup(repeat(s, 1000000 / length(s)))) >= 0 AS done FROM unnest(ARRAY['<', '<!--', '<a ', '<a b="', '&', '&#', '<script>', '<![CDATA[', '</script', '<p>']) AS s;

-- A stripped page has the shingles of its text
SELECT similarity(to_shingles(strip_markup('<h1>The quick</h1> <p>brown <em>fox</em> jumps&nbsp;over <!-- no --> the lazy dog</p>')), to_shingles('The quick brown fox jumps over the lazy dog'));
SELECT strip_markup(NULL) IS NULL AS null;

-- ---- What changes by itself ----

-- Each kind by itself
SELECT what, quote_literal(mask_changing('At 2026-11-27 07:31:37 user W120 <jo@x.example> of 10.0.0.7 got 1,250 bytes, commit 5f3a9c1, of https://x.example/a?id=7 (123e4567-e89b-12d3-a456-426614174000)', what)) AS masked
FROM unnest(ARRAY['url', 'email', 'uuid', 'ip', 'date', 'hex', 'number', 'digits', 'url, email, uuid, ip, date, hex, number, digits']) AS what;
-- Lines of a log become equal, and two invoices do, too
SELECT text_similarity(a, b, 'word 1') AS before, text_similarity(mask_changing(a, 'digits'), mask_changing(b, 'digits'), 'word 1') AS after FROM (VALUES
	('Nov 27 07:31:37 db1 sshd[2231]: session 9f3a opened for root from 10.0.0.7', 'Nov 28 11:02:10 db7 sshd[811]: session 77c1 opened for root from 10.1.2.3'),
	('Invoice 2026-117 to Okonkwo, 3 Mill Lane: 14 lamps E27, 120.50', 'Invoice 2026-342 to Okonkwo, 3 Mill Lane: 9 lamps E14, 88.00')) AS v (a, b);
SELECT mask_changing(U&'Heft 12, \767C\884C2024\5E74, na\00EFve2', 'digits') = U&'Heft , \767C\884C \5E74, ' AS scripts, mask_changing('', 'ip') AS empty, mask_changing(NULL, 'ip') IS NULL AND mask_changing('a', NULL) IS NULL AS null;
SELECT mask_changing('a', 'ips');
SELECT mask_changing('a', '');
-- Linear time: a megabyte on which a search that begins again and again is slow
SELECT length(mask_changing(repeat(s, 1000000 / length(s)), 'url, email, uuid, ip, date, hex, number, digits')) > 0 AS done FROM unnest(ARRAY['http://', 'a.', 'a@b.', '1:', '1.', 'f', '27 Nov ']) AS s;
