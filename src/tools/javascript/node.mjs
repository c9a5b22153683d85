/*
 * node.mjs: neardup.mjs for Node, which reads neardup.wasm as a file.
 */
import { webcrypto } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import * as neardup from './neardup.mjs'

export const { NeardupError, NO_KEEPER } = neardup

/* Returns the library, as load() of neardup.mjs. */
export async function load(wasm) {
	return neardup.load(wasm ?? await readFile(new URL('neardup.wasm', import.meta.url)), bytes => webcrypto.getRandomValues(bytes))
}
