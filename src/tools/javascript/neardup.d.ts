/** Near-duplicate texts, with the bits of the PostgreSQL extension neardup. */

/** The number of a value that is in no cluster. */
export const NO_KEEPER: 0xFFFFFFFF

/** What is refused; `code` is that of neardup.h: 1 if an argument is out of its range, 2 if bytes or a text are no value, and so on. */
export class NeardupError extends Error {
	code: number
}

/** How shingles are made: a scheme, such as "char 5", or a lexicon, as text or in binary format. */
export interface Scheme {
	scheme?: string
	lexicon?: string | Uint8Array
}

export interface Join {
	/** Values to compare with, instead of one another. */
	against?: Uint8Array[]
	/** How sets are compared. */
	multiset?: boolean
	containment?: boolean
}

export interface Comparison {
	distance: number
	similarity: number
	containment: number
	weighted: number
}

/** Makes the value of a text, or those of many. */
export interface Make<How> {
	(text: string, how?: How): Uint8Array
	(texts: string[], how?: How): Uint8Array[]
}

export interface Neardup {
	minhash: Make<Scheme & { k?: number, b?: number }>
	simhash: Make<{ scheme?: string, k?: number }>
	shingles: Make<Scheme>
	compare(x: Uint8Array, y: Uint8Array): Comparison
	similarity(x: Uint8Array, y: Uint8Array): number
	editDistance(x: string, y: string): number
	toText(value: Uint8Array): string
	fromText(kind: 'minhash' | 'simhash' | 'shingles', text: string): Uint8Array
	pairs(values: Uint8Array[], threshold: number, how?: Join): { a: number, b: number, similarity: number }[]
	clusters(values: Uint8Array[], threshold: number, how?: Join & { nearest?: boolean }): { keeper: number, similarity: number }[]
}

/** Loads the library; `wasm` is neardup.wasm, if it does not lie beside the module: its address (not in Node), bytes or module. */
export function load(wasm?: string | URL | BufferSource | WebAssembly.Module): Promise<Neardup>
