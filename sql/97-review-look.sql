-- How the page of neardup_review_page() looks, and what its keys do.  Both texts are ASCII, and the script
-- has no "<" and no "&", so the page is well-formed XML too.

CREATE PROCEDURE neardup_review_look(INOUT style pg_catalog.text, INOUT script pg_catalog.text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	style := $style$
:root {
	color-scheme: light dark;
	--page: #f6f5f2; --card: #ffffff; --ink: #1c1e21; --soft: #5a6068; --line: #dfddd7;
	--shared: #e4f0ea; --shared-ink: #3c5a4c; --other: #ffdf9e; --other-ink: #4a2a00; --other-line: #b86e00;
	--accent: #2b5f8a; --bar: #87929c; --focus: #2b5f8a; --twin: #bfe0cf;
}
@media (prefers-color-scheme: dark) {
	:root {
		--page: #131518; --card: #1b1e22; --ink: #e8e6e1; --soft: #a3a9b1; --line: #31363c;
		--shared: #1f2f28; --shared-ink: #a9c4b5; --other: #553a0c; --other-ink: #ffdf9e; --other-line: #e0a03a;
		--accent: #8fbce6; --bar: #656e78; --focus: #8fbce6; --twin: #2f4d3f;
	}
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body {
	margin: 0 auto; padding: 2rem 1.5rem 6rem; max-width: 84rem;
	background: var(--page); color: var(--ink);
	font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", sans-serif;
	font-variant-numeric: tabular-nums;
}
h1 { margin: 0; font-size: 1.7rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { margin: 3rem 0 0; font-size: 1.2rem; font-weight: 650; }
h3 { margin: 0; font-size: 1rem; font-weight: 400; color: var(--soft); }
h3 strong { margin: 0 0.3rem; font-size: 1.5rem; font-weight: 650; color: var(--ink); letter-spacing: -0.01em; }
h4 { margin: 0; font-size: 1rem; font-weight: 650; overflow-wrap: anywhere; }
h4 .soft { font-weight: 400; }
.title { margin-left: 0.4rem; font-weight: 400; }
a { color: var(--accent); }
p { margin: 0.3rem 0 0; }
.soft { color: var(--soft); }
.facts { font-size: 0.875rem; color: var(--soft); }

.top { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1.15fr); gap: 1.5rem 3rem; align-items: end; }
dl { display: flex; flex-wrap: wrap; gap: 0.75rem 2rem; margin: 1.25rem 0 0; }
dt { font-size: 0.875rem; color: var(--soft); }
dd { margin: 0; font-size: 1.25rem; font-weight: 600; }
figure { margin: 0; }
figcaption { font-size: 0.875rem; color: var(--soft); }
svg { display: block; width: 100%; height: 6.5rem; margin-top: 0.4rem; border-bottom: 1px solid var(--soft); }
rect { fill: var(--bar); }
rect.in { fill: var(--accent); }
.break { fill: var(--page); }
.over { font-size: 0.8125rem; color: var(--soft); text-align: right; }
.axis { display: grid; grid-template-columns: 5fr 5fr 5fr 5fr 2fr; font-size: 0.8125rem; color: var(--soft); }
.axis span:last-child { justify-self: end; }
details { font-size: 0.875rem; color: var(--soft); }
summary { cursor: pointer; width: max-content; max-width: 100%; }
table { border-collapse: collapse; margin-top: 0.4rem; }
th, td { padding: 0.1rem 1.25rem 0.1rem 0; text-align: right; font-weight: 400; }
.legend { margin-top: 2rem; padding-top: 0.9rem; border-top: 1px solid var(--line); font-size: 0.875rem; color: var(--soft); }

article { margin-top: 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.6rem; }
article:focus { outline: none; }
article[aria-current] { border-color: var(--focus); box-shadow: 0 0 0 1px var(--focus); }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
article[data-verdict] > header { background: var(--shared); }
article > header { display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; align-items: center; padding: 0.7rem 1.25rem; border-bottom: 1px solid var(--line); border-radius: 0.6rem 0.6rem 0 0; }
label { display: inline-flex; gap: 0.5rem; align-items: center; min-height: 2.75rem; font-size: 0.875rem; cursor: pointer; }
label input { width: 1.1rem; height: 1.1rem; margin: 0; accent-color: var(--accent); }
.verdicts { display: flex; gap: 0.5rem; }
article .verdicts { margin-left: auto; }
.sides { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
.sides > section { padding: 1rem 1.25rem 1.35rem; min-width: 0; }
.sides > section + section { border-left: 1px solid var(--line); }
.sides.same > .text { grid-column: 1 / -1; padding: 0 1.25rem 1.35rem; max-width: 50rem; }
.sides.same > section { padding-bottom: 0; border: 0; }
.text { margin-top: 0.8rem; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; font-size: 0.875rem; line-height: 1.7; tab-size: 4; }
mark { background: var(--shared); color: var(--shared-ink); border-radius: 0.15rem; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
mark.twin { background: var(--twin); color: var(--ink); }
b { font-weight: 600; background: var(--other); color: var(--other-ink); border-bottom: 2px solid var(--other-line); border-radius: 0.15rem 0.15rem 0 0; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
.cut { display: inline-block; margin: 0 0.25rem; padding: 0.05rem 0.5rem; border: 1px dashed var(--soft); border-radius: 1rem; color: var(--soft); font-size: 0.8125rem; font-weight: 400; line-height: 1.5; }
.brief { display: none; }
article:has(input:not(:checked)) .fold { display: none; }
article:has(input:not(:checked)) .brief { display: inline-block; }
.end { display: block; margin: 0.8rem 0 0; border-radius: 0.3rem; }
code { padding: 0 0.2rem; border: 1px solid var(--other-line); border-radius: 0.2rem; color: inherit; font: 0.75em/1.2 ui-monospace, "Liberation Mono", monospace; }

.keys { position: fixed; inset: auto 0 0; display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: center; padding: 0.6rem 1rem; background: var(--card); border-top: 1px solid var(--line); font-size: 0.875rem; }
.keys output { min-width: 6rem; text-align: center; font-weight: 600; }
[hidden] { display: none !important; }
button { min-height: 2.75rem; padding: 0 1rem; font: inherit; color: var(--ink); background: var(--page); border: 1px solid var(--line); border-radius: 0.4rem; cursor: pointer; }
button:hover { border-color: var(--soft); }
button[aria-pressed="true"] { background: var(--accent); border-color: var(--accent); color: var(--card); font-weight: 600; }
button:disabled { color: var(--soft); cursor: default; }
kbd { padding: 0.05rem 0.4rem; font: 0.8125rem ui-monospace, "Liberation Mono", monospace; background: var(--page); border: 1px solid var(--line); border-radius: 0.25rem; }

@media (max-width: 52rem) {
	body { padding: 1.25rem 0.75rem 10rem; }
	h1 { font-size: 1.4rem; }
	.top, .sides { grid-template-columns: minmax(0, 1fr); }
	.sides > section + section { border-left: 0; border-top: 1px solid var(--line); }
	article > header, .sides > section { padding-left: 0.9rem; padding-right: 0.9rem; }
	.keys { gap: 0.5rem; padding: 0.5rem 0.75rem; }
	.keys output { flex: 1; min-width: 0; }
	.keys .help { display: none; }
	.verdicts { flex: 1 0 100%; }
	.verdicts button { flex: 1; padding: 0; }
}
@media print {
	body { padding: 0; max-width: none; }
	.keys, .verdicts { display: none; }
	article { break-inside: avoid-page; }
}
$style$;
	script := $script$
(function () {
	var pairs = Array.from(document.querySelectorAll('article'));
	var keys = document.querySelector('.keys');
	var verdicts = { s: 't', d: 'f', u: '\\N' };
	var current = 0;
	var scrolled = -1;

	function isJudged(pair) { return pair.dataset.verdict !== undefined; }

	// Makes a pair the current one, which keys and the bar judge; shows the verdicts.
	function show(n) {
		var judged = pairs.filter(isJudged);
		var same = judged.filter(function (pair) { return pair.dataset.verdict === 't'; });
		pairs[current].removeAttribute('aria-current');
		current = n;
		pairs[n].setAttribute('aria-current', 'true');
		document.querySelectorAll('button[value]').forEach(function (button) {
			button.setAttribute('aria-pressed', button.value === (button.closest('article') || pairs[n]).dataset.verdict);
		});
		keys.querySelector('output').textContent = 'Pair ' + (n + 1) + ': ' + judged.length + ' of ' + pairs.length + ' judged, ' + same.length + ' same';
		keys.querySelector('.save').disabled = judged.length === 0;
	}

	function go(n) {
		n = Math.max(0, Math.min(pairs.length - 1, n));
		show(n);
		pairs[n].focus({ preventScroll: true });
		pairs[n].scrollIntoView();
		scrolled = window.scrollY;
	}

	// Returns the pair in the middle of the window.
	function seen() {
		var n = pairs.findIndex(function (pair) { return pair.getBoundingClientRect().bottom > window.innerHeight / 2; });
		return n === -1 ? pairs.length - 1 : n;
	}

	// Returns the first pair without a verdict, from one on and then from the first on; or -1.
	function unjudged(from) {
		var n = pairs.findIndex(function (pair, i) { return i >= from ? !isJudged(pair) : false; });
		return n !== -1 ? n : pairs.findIndex(function (pair) { return !isJudged(pair); });
	}

	// Reads or writes a verdict in the browser's storage, if it has one.
	function store(pair, change) {
		try {
			if (!change) return localStorage.getItem(pair.dataset.key);
			if (isJudged(pair)) localStorage.setItem(pair.dataset.key, pair.dataset.verdict);
			else localStorage.removeItem(pair.dataset.key);
		} catch (error) {
			keys.querySelector('.lost').hidden = false;
		}
		return null;
	}

	// Judges a pair, and goes to the next one without a verdict.
	function judge(n, verdict) {
		pairs[n].dataset.verdict = verdict;
		store(pairs[n], true);
		if (unjudged(n) === -1) show(n);
		else go(unjudged(n));
	}

	// Takes a verdict back.
	function undo(n) {
		delete pairs[n].dataset.verdict;
		store(pairs[n], true);
		show(n);
	}

	// Writes the verdicts as COPY does: data-row has the bytes of both ids, in hexadecimal.
	function save() {
		var rows = pairs.filter(isJudged).map(function (pair) {
			return [Uint8Array.from(pair.dataset.row.match(/../g), function (byte) { return parseInt(byte, 16); }), pair.dataset.verdict + '\n'];
		});
		var link = document.createElement('a');
		link.href = URL.createObjectURL(new Blob(rows.flat()));
		link.download = 'verdicts.tsv';
		link.click();
		setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
	}

	// Marks the passage of the other text that belongs to one.
	function pairUp(event) {
		var mark = event.target.closest('article mark');
		if (!mark) return;
		document.querySelectorAll('.twin').forEach(function (other) { other.classList.remove('twin'); });
		mark.closest('article').querySelectorAll('mark[data-passage="' + mark.dataset.passage + '"]').forEach(function (twin) {
			twin.classList.add('twin');
			if (event.type !== 'click') return;
			if (twin.closest('section') !== mark.closest('section')) twin.scrollIntoView({ block: 'center' });
		});
	}

	if (pairs.length === 0) return;
	pairs.forEach(function (pair) {
		var verdict = store(pair);
		if (Object.values(verdicts).includes(verdict)) pair.dataset.verdict = verdict;
		pair.querySelector('header').appendChild(keys.querySelector('.verdicts').cloneNode(true));
	});
	keys.hidden = false;
	keys.querySelector('.previous').addEventListener('click', function () { go(current - 1); });
	keys.querySelector('.next').addEventListener('click', function () { go(current + 1); });
	keys.querySelector('.save').addEventListener('click', save);
	document.addEventListener('mouseover', pairUp);
	document.addEventListener('click', pairUp);
	document.addEventListener('click', function (event) {
		var button = event.target.closest('button[value]');
		var pair = event.target.closest('article');
		if (!button) return;
		// Only a pair's own button takes its verdict back: a press too many of a key does not.
		if (pair) if (pair.dataset.verdict === button.value) return undo(pairs.indexOf(pair));
		judge(pair ? pairs.indexOf(pair) : current, button.value);
	});
	document.addEventListener('focusin', function (event) {
		var pair = event.target.closest('article');
		if (pair) show(pairs.indexOf(pair));
	});
	// The current pair is always one that is seen: it is the one that a key judges.
	document.addEventListener('scroll', function () {
		if (window.scrollY === scrolled) return;
		scrolled = -1;
		if (seen() !== current) show(seen());
	});
	document.addEventListener('keydown', function (event) {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		var box = pairs[current].querySelector('input');
		if (event.key === 'j' || event.key === 'ArrowRight') go(current + 1);
		else if (event.key === 'k' || event.key === 'ArrowLeft') go(current - 1);
		else if (event.repeat) return;
		else if (Object.hasOwn(verdicts, event.key)) judge(current, verdicts[event.key]);
		else if (event.key === 'a') { if (box) box.checked = !box.checked; }
		else return;
		event.preventDefault();
	});
	// The page opens at the pair that its address names, or at the first one without a verdict.
	// Pair 1 need not come to the top, if its texts are seen below the head of the page.
	var named = pairs.indexOf(document.getElementById(location.hash.slice(1)));
	var first = named === -1 ? Math.max(0, unjudged(0)) : named;
	var bottom = named === -1 ? keys.getBoundingClientRect().top : 0;
	if (first === 0) if (bottom > pairs[0].querySelector('.text').getBoundingClientRect().top) return show(0);
	go(first);
}());
$script$;
END $$;
COMMENT ON PROCEDURE neardup_review_look(pg_catalog.text, pg_catalog.text) IS
	'a part of neardup_review_page(): its style and its script';
