// Tests of the JavaScript module: its signatures are those of the command, and its pairs and clusters what they must be.
// Arguments: the folder of the module, and the command.  Prints the lines of TAP.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { done, test } from './tap.mjs'

const [folder, command] = process.argv.slice(2)
const { load, NeardupError, NO_KEEPER } = await import(`${pathToFileURL(folder)}/node.mjs`)
const neardup = await load()
// The first letters of scripts, for words of two to eight characters.
const SCRIPTS = [0x61, 0xC0, 0x3B1, 0x430, 0x5D0, 0x627, 0x905, 0xE01, 0x1780, 0x3042, 0x4E00, 0xAC00, 0x10428, 0x1F600]
const texts = Array.from({ length: 700 }, (_, i) => Array.from({ length: i % 90 }, (_, w) =>
	Array.from({ length: 2 + (i + w) % 7 }, (_, c) => String.fromCodePoint(SCRIPTS[(i + (w >> 3)) % SCRIPTS.length] + (i * 31 + w * w * 7 + c * 5) % 24)).join('')).join(" ,"))
const records = texts.map((text, id) => JSON.stringify({ id, text })).join('\n')
function ofCommand(...options) {
	const lines = execFileSync(command, ['sign', '--id', 'id', ...options], { input: records, encoding: 'utf8', maxBuffer: 1 << 28 })

	return lines.trimEnd().split('\n').map(line => line.split('\t')[1])
}

const lexicon = execFileSync(command, ['learn', '--entries', '300', '--share', '0.3'], { input: records, encoding: 'utf8' }).trim()
for (const [name, values, ...options] of [
	['minhash by default', neardup.minhash(texts)],
	['simhash by default', neardup.simhash(texts), '--simhash', '64'],
	['shingles by default', neardup.shingles(texts), '--shingles'],
	['minhash of characters', neardup.minhash(texts, { k: 100, b: 8, scheme: 'char 5' }), '--minhash', '100,8', '--scheme', 'char 5'],
	['simhash', neardup.simhash(texts, { k: 128, scheme: 'anychar 4' }), '--simhash', '128', '--scheme', 'anychar 4'],
	['shingles', neardup.shingles(texts, { scheme: 'word 2' }), '--shingles', '--scheme', 'word 2']])
	test(`${name}: no bit differs from the command's`, () => assert.deepEqual(values.map(neardup.toText), ofCommand(...options)))

test('values are read as they are printed', () => {
	for (const [kind, value] of [['minhash', neardup.minhash('a b c d')], ['simhash', neardup.simhash('a b')], ['shingles', neardup.shingles('a b c d')]])
		assert.deepEqual(neardup.fromText(kind, neardup.toText(value)), value)
})

test('a lexicon weighs', () => {
	assert.equal(neardup.minhash(texts, { lexicon }).length, texts.length)
	assert.notDeepEqual(neardup.minhash(texts[60], { lexicon }), neardup.minhash(texts[60], { scheme: 'word 1' }))
})

test('pairs and clusters', () => {
	const values = neardup.minhash(['one two three four', 'five six seven eight', 'One, two, three: four!', ''])

	assert.deepEqual(neardup.pairs(values, 0.9), [{ a: 0, b: 2, similarity: 1 }])
	assert.deepEqual(neardup.clusters(values, 0.9).map(cluster => cluster.keeper), [0, 1, 0, NO_KEEPER])
	assert.deepEqual(neardup.pairs(values.slice(1), 0.9, { against: values.slice(0, 1) }), [{ a: 1, b: 0, similarity: 1 }])
	assert.deepEqual(neardup.pairs([], 0.9), [])

	const [long, short, other] = neardup.shingles(['one two three four five', 'two three four', 'six seven eight'])

	assert.deepEqual(neardup.clusters([long, other], 1, { against: [short], containment: true }).map(cluster => cluster.keeper), [0, NO_KEEPER])
	assert.deepEqual(neardup.pairs([long], 1, { against: [], containment: true }), [])
})

test('comparisons', () => {
	assert.equal(neardup.similarity(neardup.minhash('a b c d'), neardup.minhash('A b, c d')), 1)
	assert.equal(neardup.compare(neardup.shingles('a b c d'), neardup.shingles('a b c d e')).containment, 1)
	assert.equal(neardup.editDistance('kitten', 'sitting'), 3)
})

test('what is refused', () => {
	const refused = (code, body) => assert.throws(body, error => error instanceof NeardupError && error.code === code)

	refused(1, () => neardup.minhash('a', { k: 3 }))
	for (const k of [512.5, '512', 2 ** 32 + 512, NaN, null])
		refused(1, () => neardup.minhash('a', { k }))
	for (const half of ['\ud800', 'a\udc00\ud800', '\ud83d\ud83d\ude00'])
		refused(2, () => neardup.minhash(['a \u{1f600}', half]))
	refused(2, () => neardup.compare(new Uint8Array(1), new Uint8Array(1)))
	refused(3, () => neardup.compare(neardup.minhash('a', { k: 64 }), neardup.minhash('a', { k: 128 })))
	refused(1, () => neardup.pairs(neardup.minhash(['a', 'b']), 2))
	for (const scheme of ['word 1\0x', '\0'])
		refused(1, () => neardup.minhash('a', { scheme }))
	refused(2, () => neardup.fromText('minhash', `${neardup.toText(neardup.minhash('a'))}\0x`))
	refused(1, () => neardup.fromText('lexicons', ''))
	assert.equal(neardup.minhash('a b c').length, 76)
})

test('types', () => {
	const typed = body => assert.throws(body, TypeError)

	for (const no of [null, undefined, 5, 5n, true, {}, Symbol('a'), new String('a'), new Uint8Array(2), new Map()]) {
		for (const make of [neardup.minhash, neardup.simhash, neardup.shingles]) {
			typed(() => make(no))
			typed(() => make(['a', no]))
			if (no !== undefined)
				typed(() => make('a', { scheme: no }))
		}
		typed(() => neardup.editDistance('a', no))
		typed(() => neardup.editDistance(no, 'a'))
		typed(() => neardup.fromText('minhash', no))
		typed(() => neardup.pairs(no, 0.8))
		typed(() => neardup.clusters(no, 0.8))
		if (!(no instanceof Uint8Array)) {
			typed(() => neardup.toText(no))
			typed(() => neardup.compare(no, neardup.minhash('a')))
			typed(() => neardup.similarity(neardup.minhash('a'), no))
			typed(() => neardup.pairs([neardup.minhash('a'), no], 0.8))
			if (no !== undefined)
				typed(() => neardup.minhash('a', { lexicon: no }))
		}
	}
	for (const against of ['', 0, false, {}])
		typed(() => neardup.pairs(neardup.minhash(['a']), 0.8, { against }))
	assert.equal(neardup.pairs(neardup.minhash(['a b', 'a b']), 0.8, { against: null }).length, 1)
	typed(() => neardup.minhash([, 'a']))
	assert.equal(neardup.toText(Buffer.from(neardup.minhash('a'))), neardup.toText(neardup.minhash('a')))
	typed(() => neardup.toText('ab'))
	typed(() => neardup.pairs(['ab'], 0.8))
	for (const threshold of [null, undefined, '0.8', 1n])
		typed(() => neardup.clusters(neardup.minhash(['a']), threshold))
})

done()
