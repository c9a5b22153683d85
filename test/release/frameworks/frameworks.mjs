// Tests of clients for JavaScript on a server that PGHOST and PGPORT name: node-postgres, Postgres.js, Drizzle and TypeORM; of
// the drivers also behind PgBouncer at POOLER_PORT.  Prints TAP; the database is made anew.
//
//   frameworks.mjs DATABASE    in a folder with node_modules, which may be written to

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import 'reflect-metadata';
import { eq, sql as part } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigint, customType, index, pgTable, text } from 'drizzle-orm/pg-core';
import pg from 'pg';
import postgres from 'postgres';
import { DataSource, EntitySchema } from 'typeorm';

const name = process.argv[2];
const TEXT = 'The library needs a new roof, since the old one leaks whenever it rains in autumn.';
const NEAR = TEXT.replace('autumn', 'spring');
const FAR = 'A playground for the children of the valley, and benches for their parents.';
let count = 0, failures = 0;

const check = (ok, what) => {
    failures += !ok;
    console.log(`${ok ? 'ok' : 'not ok'} ${++count} - ${what}`);
};
const caught = async (call) => {
    try {
        await call();
    } catch (error) {
        return error;
    }
};
const versions = ['pg', 'postgres', 'drizzle-orm', 'drizzle-kit', 'typeorm']
    .map((one) => `${one} ${JSON.parse(readFileSync(`node_modules/${one}/package.json`)).version}`);

console.log('#', `Node.js ${process.version},`, versions.join(', '));
const admin = new pg.Client({ database: 'postgres' });
await admin.connect();
await admin.query(`DROP DATABASE IF EXISTS ${name}`);
await admin.query(`CREATE DATABASE ${name}`);
await admin.query(`ALTER DATABASE ${name} SET search_path = public, neardup`);
await admin.end();

// ---- node-postgres ----

const client = new pg.Client({ database: name });
await client.connect();
await client.query(`
    CREATE SCHEMA neardup;
    CREATE EXTENSION neardup SCHEMA neardup;
    CREATE TABLE proposals (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text, body text,
        sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
    SELECT neardup_guard('proposals', 'sig', 0.5, name => 'no_copies', show => 'title')`);
await client.query('INSERT INTO proposals (title, body) SELECT title, body FROM unnest($1::text[], $2::text[]) AS t(title, body)', [['A roof', null], [TEXT, FAR]]);
const near = 'SELECT id FROM proposals WHERE is_similar(sig, to_minhash($1), $2)';
check((await client.query(near, [NEAR, 0.5])).rows.map((row) => row.id).join() === '1', 'pg: a threshold is a parameter; rows are loaded in bulk');
const mine = (await client.query('SELECT to_minhash($1)::bytea AS sig', [NEAR])).rows[0].sig;
const bytes = 'SELECT id FROM proposals WHERE is_similar(sig, $1::bytea::minhash, 0.5)';
check((await client.query(bytes, [mine])).rows.length === 1, 'so is a Buffer');
const all = (await client.query('SELECT array_agg(sig::bytea ORDER BY id) AS sigs FROM proposals')).rows[0].sigs;
const back = await client.query('SELECT count(*) FROM proposals WHERE sig = ANY (SELECT s::minhash FROM unnest($1::bytea[]) AS s)', [all]);
check(all.every(Buffer.isBuffer) && back.rows[0].count === '2', 'and an array of them');
const refused = await caught(() => client.query('INSERT INTO proposals (body) VALUES ($1)', [NEAR]));
check(refused.code === '23P01' && refused.constraint === 'no_copies' && JSON.parse(refused.detail).similar.title === 'A roof', 'a refusal tells of the other row');

// ---- Postgres.js ----

const sql = postgres({ host: process.env.PGHOST, port: Number(process.env.PGPORT), database: name, username: process.env.PGUSER, onnotice: () => {} });
check((await sql`SELECT id FROM proposals WHERE is_similar(sig, to_minhash(${NEAR}), ${0.5})`).length === 1, 'Postgres.js: a threshold is a parameter');
check((await sql`SELECT id FROM proposals WHERE is_similar(sig, ${mine}::bytea::minhash, 0.5)`).length === 1, 'so is a Buffer');
const [{ sigs }] = await sql`SELECT array_agg(sig::bytea ORDER BY id) AS sigs FROM proposals`;
check((await sql`SELECT count(*)::int AS n FROM proposals WHERE sig = ANY (SELECT s::minhash FROM unnest(${sql.array(sigs, 1001)}) AS s)`)[0].n === 2, 'and an array of them');
const rejected = await caught(() => sql`INSERT INTO proposals ${sql([{ title: 'one', body: NEAR }, { title: 'two', body: 'another' }])}`);
check(rejected.code === '23P01' && rejected.constraint_name === 'no_copies' && JSON.parse(rejected.detail).similar.title === 'A roof', 'a refusal tells of the other row');
await sql.end();

// ---- PgBouncer, where two connections share one of the server's, transaction by transaction ----

const port = Number(process.env.POOLER_PORT);
const some = [new pg.Client({ database: name, port }), new pg.Client({ database: name, port })];
for (const one of some) await one.connect();
const others = [1, 2].map(() => postgres({ host: process.env.PGHOST, port, database: name, username: process.env.PGUSER, max: 1, prepare: false }));
let found = 0;
for (let i = 0; i < 20; i++) {
    found += (await some[i % 2].query(near, [NEAR, 0.5])).rows.length;
    found += (await others[i % 2]`SELECT id FROM proposals WHERE is_similar(sig, to_minhash(${NEAR}), ${0.5})`).length;
}
check(found === 40, 'node-postgres and Postgres.js behind PgBouncer');
for (const one of [...some, ...others]) await one.end();

// ---- Drizzle ----

const minhash = customType({ dataType: () => 'minhash' });
const grants = pgTable('grants', {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    body: text(),
    sig: minhash().generatedAlwaysAs(part`to_minhash(body)`),
}, (table) => [index('grants_sig').using('neardup', table.sig)]);
writeFileSync('schema.mjs', `
import { sql } from 'drizzle-orm';
import { bigint, customType, index, pgTable, text } from 'drizzle-orm/pg-core';
const minhash = customType({ dataType: () => 'minhash' });
export const proposals = pgTable('proposals', { id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(), title: text(), body: text(),
    sig: minhash().generatedAlwaysAs(sql\`to_minhash(body)\`) }, (table) => [index('proposals_sig_idx').using('neardup', table.sig)]);
export const grants = pgTable('grants', { id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(), body: text(),
    sig: minhash().generatedAlwaysAs(sql\`to_minhash(body)\`) }, (table) => [index('grants_sig').using('neardup', table.sig)]);
`);
writeFileSync('drizzle.config.mjs', `export default { dialect: 'postgresql', schema: './schema.mjs',
    dbCredentials: { url: 'postgresql://${process.env.PGUSER ?? 'postgres'}@localhost/${name}?host=${encodeURIComponent(process.env.PGHOST)}&port=${process.env.PGPORT}' } };\n`);
const push = () => execFileSync('node_modules/.bin/drizzle-kit', ['push', '--config=drizzle.config.mjs', '--force', '--verbose'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
let said = '';
const failed = await caught(() => { said = push(); });
if (failed) console.log(String(failed.stdout + failed.stderr).replace(/^/gm, '# '));
check(!failed && !/DROP VIEW|DROP INDEX/.test(said), 'drizzle-kit push leaves the extension alone in a schema of its own, and the index');
check(/No changes/.test(push()), 'and finds nothing to do the second time');
const db = drizzle(client);
await db.insert(grants).values([{ body: TEXT }, { body: FAR }]);
const similar = await db.select({ id: grants.id, sig: part`${grants.sig}::bytea` }).from(grants).where(part`is_similar(${grants.sig}, ${mine}::bytea::minhash, ${0.5})`);
check(similar.length === 1 && Buffer.isBuffer(similar[0].sig), 'Drizzle: bytes are parameters and results');
await client.query("SELECT neardup_guard('grants', 'sig', 0.5, name => 'no_grants')");
const again = await caught(() => db.update(grants).set({ body: NEAR }).where(eq(grants.id, 2)));
check(again.cause.code === '23P01' && again.cause.constraint === 'no_grants', 'a refusal is the cause');

// ---- TypeORM ----

const offers = new EntitySchema({
    name: 'Offer', tableName: 'offers', indices: [{ name: 'offers_sig', synchronize: false, columns: ['sig'] }],
    columns: {
        id: { type: 'bigint', primary: true, generated: 'identity', generatedIdentity: 'ALWAYS' },
        title: { type: 'text', nullable: true },
        body: { type: 'text' },
        sig: { type: 'minhash', generatedType: 'STORED', asExpression: 'to_minhash(body)', insert: false, update: false, select: false, nullable: true },
    },
});
class Proposals1700000000000 {
    async up(runner) {
        await runner.query('CREATE TABLE moved (body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED)');
        await runner.query("SELECT neardup_guard('moved', 'sig', 0.5)");
    }
    async down(runner) {
        await runner.query('DROP TABLE moved');
    }
}
const source = new DataSource({ migrations: [Proposals1700000000000], type: 'postgres', host: process.env.PGHOST, port: Number(process.env.PGPORT), database: name, username: process.env.PGUSER, entities: [offers] });
source.driver.supportedDataTypes.push('minhash');
await source.initialize();
await source.query('DROP TABLE proposals, grants');
await source.synchronize();
await source.query('CREATE INDEX offers_sig ON offers USING neardup (sig)');
await source.query("SELECT neardup_guard('offers', 'sig', 0.5, name => 'no_copies')");
const repository = source.getRepository('Offer');
await repository.insert([{ title: 'A roof', body: TEXT }, { body: FAR }]);
const rows = await repository.createQueryBuilder('p').where('is_similar(p.sig, to_minhash(:query), :threshold)', { query: NEAR, threshold: 0.5 })
    .orderBy('p.sig <-> to_minhash(:query)').getMany();
check(rows.length === 1 && rows[0].title === 'A roof', 'TypeORM: conditions and order');
const denied = await caught(() => repository.save({ body: NEAR }));
check(denied.driverError.code === '23P01' && denied.driverError.constraint === 'no_copies', 'a refusal is the driver\'s error');
await source.synchronize();
const kept = await client.query("SELECT count(*) FROM pg_index JOIN pg_attribute ON attrelid = indrelid WHERE indexrelid = 'offers_sig'::regclass AND attgenerated = 's'");
check(kept.rows[0].count === '1', 'synchronize keeps the column, and an index that the entity names');
const moved = async () => (await source.query("SELECT to_regclass('moved') AS found"))[0].found;
await source.runMigrations();
const up = await moved();
await source.undoLastMigration();
check(up === 'moved' && await moved() === null, 'up and down');
await source.destroy();
await client.end();
console.log(`1..${count}`);
process.exit(failures > 0 ? 1 : 0);
