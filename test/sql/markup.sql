-- strip_markup() removes markup and keeps text.

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
