// Tests of the package of npm, as it is packed: with TypeScript, esbuild, Vite and the releases of Node below, from npm.
// Argument: the folder of the module.  Prints the lines of TAP; skips with a word what npm does not install.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { done, skip, test } from './tap.mjs'

const PACKAGES = ['esbuild@0.25', 'vite@6', 'typescript@5']
const NODES = [18, 22]
const module = resolve(process.argv[2])
const folder = mkdtempSync(join(tmpdir(), 'neardup-npm-'))
const run = (program, ...options) => execFileSync(program, options, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
const npm = (...options) => run('npm', ...options, '--no-audit', '--no-fund', '--loglevel=error', '--cache', join(folder, 'cache'))
const write = (name, text) => writeFileSync(join(folder, name), text)
const SAYS = "const values = neardup.minhash(['one two three', 'One, two three!'])\nconsole.log(neardup.pairs(values, .9).length, neardup.editDistance('kitten', 'sitting'))\n"
const SAID = '1 3\n'
function installed(...packages) {
	try {
		npm('install', ...packages)
		return true
	} catch (error) {
		skip(`npm did not install ${packages}`)
		return false
	}
}

write('package.json', '{ "type": "module" }')
const [packed] = JSON.parse(npm('pack', module, '--json'))
test('what is packed', () => assert.deepEqual(packed.files.map(file => file.path).sort(), ['LICENSE', 'LICENSE.utf8proc', 'LICENSE.xxHash', 'README.md', 'neardup.d.ts',
	'neardup.mjs', 'neardup.wasm', 'node.mjs', 'package.json']))
npm('install', `./${packed.filename}`)
write('node.js', `import { load } from 'neardup'\nconst neardup = await load()\n${SAYS}`)
test('this Node', () => assert.equal(run(process.execPath, 'node.js'), SAID))
for (const release of NODES)
	if (installed(`node@${release}`))
		test(`Node ${release}`, () => assert.equal(run(join(folder, 'node_modules/node/bin/node'), 'node.js'), SAID))

if (installed(...PACKAGES)) {
	test('types', () => {
		write('types.ts', `import { load, NeardupError, NO_KEEPER } from 'neardup'
			const neardup = await load(new Uint8Array(1)), one: Uint8Array = neardup.minhash('a', { k: 64 }), many: Uint8Array[] = neardup.shingles(['a'], { scheme: 'char 5' })
			const keepers: number[] = neardup.clusters([one, ...many], .8, { nearest: true }).map(c => c.keeper).filter(k => k !== NO_KEEPER)
			// @ts-expect-error
			neardup.minhash(7)
			console.log(keepers, new NeardupError().code)`)
		run('node_modules/.bin/tsc', '--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', 'types.ts')
	})
	test('esbuild, for a browser and in a worker', () => {
		write('esbuild.js', `import { load } from 'neardup'\nimport wasm from 'neardup/neardup.wasm'\nconst neardup = await load(wasm)\n${SAYS}`)
		run('node_modules/.bin/esbuild', 'esbuild.js', '--bundle', '--format=esm', '--platform=browser', '--loader:.wasm=binary', '--outfile=bundled.js', '--log-level=warning')
		write('worker.js', "import { Worker } from 'node:worker_threads'\nnew Worker(new URL('bundled.js', import.meta.url))")
		for (const program of ['bundled.js', 'worker.js'])
			assert.equal(run(process.execPath, program), SAID)
	})
	test('Vite puts neardup.wasm beside its bundle', () => {
		write('vite.js', `import { load } from 'neardup'\nload().then(neardup => {\n${SAYS}})\n`)
		write('index.html', '<script type="module" src="vite.js"></script>')
		const said = run('node_modules/.bin/vite', 'build', '--base', './', '--logLevel', 'warn')
		const names = readdirSync(join(folder, 'dist/assets')), wasm = names.find(name => name.endsWith('.wasm'))
		assert.equal(said, '')
		assert.deepEqual(readFileSync(join(folder, 'dist/assets', wasm)), readFileSync(join(module, 'neardup.wasm')))
		// Node has no addresses of files for fetch().
		write('browser.js', `import { readFileSync } from 'node:fs'
			globalThis.fetch = async url => new Response(readFileSync(new URL(url)))
			globalThis.document = { createElement: () => ({}), querySelectorAll: () => [], baseURI: import.meta.url }
			globalThis.MutationObserver = class { observe() {} }
			await import('./dist/assets/${names.find(name => name.endsWith('.js'))}')`)
		assert.equal(run(process.execPath, 'browser.js'), SAID)
	})
}
rmSync(folder, { recursive: true })
done()
