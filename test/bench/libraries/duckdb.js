// duckdb.js: MinHash bands and an exact check in the SQL of DuckDB.
//
//   node duckdb.js SECONDS     the seconds for searches
//
// Reads libraries.docs and libraries.queries, and makes libraries.duckdb.  The output is lines as python.py of
// BENCH=peers writes them, and "version <tab> VERSION".
const fs = require('fs');
const duckdb = require('@duckdb/node-api');

// A pair at a resemblance of 0.8 shares a band with probability 1 - (1 - 0.8³)⁸ = 0.997.
const BANDS = 8;
const ROWS = 3;
const THRESHOLD = 0.8;

const texts = name => `read_csv('${name}', delim = '\t', header = false, quote = '', escape = '', columns = {'id': 'INTEGER', 'body': 'VARCHAR'})`;
const shingles = body => `list_transform([regexp_extract_all(lower(${body}), '\\w+')], lambda w:
	list_distinct(list_transform(range(1, greatest(len(w) - 1, 2)), lambda i: hash(w[i], w[i + 1], w[i + 2]))))[1]`;
const least = permutation => `list_min(list_transform(s, lambda h: hash(xor(h, ${permutation}::UBIGINT))))`;
const band = number => `hash(${number}, ${Array.from({length: ROWS}, (_, i) => least(number * ROWS + i)).join(', ')})`;
const KEYS = `[${Array.from({length: BANDS}, (_, i) => band(i)).join(', ')}]`;

function put(...fields) {
	process.stdout.write(fields.join('\t') + '\n');
}

async function timed(connection, ...statements) {
	const start = performance.now();
	for (const statement of statements)
		await connection.run(statement);
	return (performance.now() - start) / 1000;
}

async function build(connection) {
	const sign = await timed(connection, `CREATE TABLE sets AS SELECT id, ${shingles('body')} AS s FROM ${texts('libraries.docs')}`,
		`CREATE TABLE keys AS SELECT id, ${KEYS} AS keys FROM sets`);
	const index = await timed(connection, 'CREATE TABLE bands AS SELECT unnest(keys) AS key, id FROM keys ORDER BY key', 'DROP TABLE keys',
		'CREATE INDEX bands_key ON bands (key)', 'CREATE INDEX sets_id ON sets (id)', 'CHECKPOINT');
	put('measure', 'duckdb', 'sign', 's', sign);
	put('measure', 'duckdb', 'index', 's', index);
	put('measure', 'duckdb', 'build', 's', sign + index);
	put('measure', 'duckdb', 'size', 'MB', fs.statSync('libraries.duckdb').size / 1e6);
}

async function pairs(connection) {
	put('measure', 'duckdb', 'pairs', 's', await timed(connection,
		'CREATE TEMP TABLE candidates AS SELECT DISTINCT x.id AS a, y.id AS b FROM bands x JOIN bands y ON x.key = y.key AND x.id < y.id',
		`CREATE TEMP TABLE pairs AS SELECT a, b FROM (
			SELECT a, b, len(x.s) + len(y.s) AS sizes, len(list_intersect(x.s, y.s)) AS shared
			FROM candidates JOIN sets x ON x.id = a JOIN sets y ON y.id = b) WHERE shared >= ${THRESHOLD} * (sizes - shared)`));
	const result = await connection.runAndReadAll('SELECT a, b FROM pairs');
	for (const [a, b] of result.getRows())
		put('pair', 'duckdb', a, b);
}

// Searches in three statements: DuckDB uses its indexes only for constants.
async function find(connection, signing, text) {
	signing.bindVarchar(1, text);
	const [set, keys] = (await signing.runAndReadAll()).getRows()[0].map(list => list.items);
	const ids = (await connection.runAndReadAll(`SELECT DISTINCT id FROM bands WHERE key IN (${keys.join(',')})`)).getRows();
	if (ids.length === 0)
		return [];
	const result = await connection.runAndReadAll(`SELECT id FROM (
			SELECT id, len(s) + ${set.length} AS sizes, len(list_intersect(s, [${set.join(',')}]::UBIGINT[])) AS shared
			FROM sets WHERE id IN (${ids.join(',')})) WHERE shared >= ${THRESHOLD} * (sizes - shared)`);
	return result.getRows().map(row => row[0]);
}

async function searches(connection, seconds) {
	const signing = await connection.prepare(`SELECT s, ${KEYS} FROM (SELECT ${shingles('$1')} AS s)`);
	const queries = fs.readFileSync('libraries.queries', 'utf8').trimEnd().split('\n').map(line => line.split('\t'));
	for (const [, text] of queries.slice(-6))
		await find(connection, signing, text);	// warms up
	const end = performance.now() + seconds * 1000;
	for (const [number, text] of queries) {
		if (Number(number) > 10 && performance.now() > end)
			break;
		const start = performance.now();
		const ids = await find(connection, signing, text);
		put('timed', 'duckdb', number, performance.now() - start);
		for (const id of ids)
			put('found', 'duckdb', number, id);
	}
}

async function main() {
	const instance = await duckdb.DuckDBInstance.create('libraries.duckdb');
	const connection = await instance.connect();
	put('version', (await connection.runAndReadAll('SELECT version()')).getRows()[0][0]);
	await build(connection);
	await searches(connection, Number(process.argv[2]));
	await pairs(connection);
	const peak = fs.readFileSync('/proc/self/status', 'utf8').match(/VmHWM:\s*(\d+)/);
	put('measure', 'duckdb', 'memory', 'MB', peak[1] * 1024 / 1e6);
}

main();
