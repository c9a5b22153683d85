/*
 * neardup.mjs: near-duplicate texts, with the bits of the PostgreSQL extension neardup.
 *
 *   import { load } from 'neardup'
 *   const neardup = await load()
 *   const signature = neardup.minhash(text)            // a Uint8Array, as COPY BINARY takes it
 *   neardup.toText(signature)                          // a string, as INSERT takes it
 *   neardup.similarity(signature, other)               // 0.93
 *
 * A value is a Uint8Array in the binary format of the SQL types minhash, simhash and shingles.
 * Equal bytes are equal values, and the server makes the same ones of the same text.  Lists of
 * values are arrays of one kind.  What is refused throws a NeardupError.
 */
const MINHASH = 1
const SIMHASH = 2
const SHINGLES = 3
const KINDS = { minhash: MINHASH, simhash: SIMHASH, shingles: SHINGLES }

/* The number of a value that is in no cluster. */
export const NO_KEEPER = 0xFFFFFFFF

/* `code` is that of neardup.h: 1 if an argument is out of its range, 2 if bytes or a text are no value, and so on. */
export class NeardupError extends Error {
	constructor(message, code) {
		super(message)
		this.code = code
	}
}

/* Returns something that has a type; throws a TypeError for what has not, which would be taken for a text or for bytes of 0. */
function checked(is, thing, what) {
	if (!is)
		throw new TypeError(`${what}, not ${thing === null ? 'null' : typeof thing === 'object' ? thing.constructor?.name ?? 'an object' : typeof thing}`)
	return thing
}

const textOf = text => checked(typeof text === 'string', text, 'a text is a string')
// Also of another realm, such as that of a test's sandbox.
const valueOf = value => checked(Object.prototype.toString.call(value) === '[object Uint8Array]', value, 'a value is a Uint8Array')
const listOf = list => checked(Array.isArray(list), list, 'values are in an array')

/* Returns the kind of a value, as its second byte tells. */
function kindOf(value) {
	if (value.length < 2)
		throw new NeardupError('this is no value: its end is missing', 2)
	return value[1] & 8 ? MINHASH : value[1] & 7 ? SHINGLES : SIMHASH
}

/* Returns what a server has at an address. */
async function fetched(url) {
	const response = await fetch(url)

	if (!response.ok)
		throw new Error(`could not load ${url}: ${response.status} ${response.statusText}`)
	return response.arrayBuffer()
}

/*
 * Returns the library, whose functions are called one at a time.  `wasm` is neardup.wasm, if it does not lie beside this
 * file: its address, its bytes or a WebAssembly.Module.  `random` fills an array with random bytes.
 */
export async function load(wasm = new URL('neardup.wasm', import.meta.url), random = bytes => crypto.getRandomValues(bytes)) {
	const source = typeof wasm === 'string' || wasm instanceof URL ? await fetched(wasm) : wasm
	let high = 0
	const environment = {
		getentropy: (at, length) => (random(heap().subarray(at, at + length)), 0),
		emscripten_notify_memory_growth: () => {},
		getTempRet0: () => high,
		setTempRet0: value => { high = value }
	}
	const clock = {
		/* Sets the number at the last argument, in nanoseconds. */
		clock_time_get: (...given) => (view().setBigUint64(given.at(-1), BigInt(Math.round(performance.now() * 1e6)), true), 0)
	}
	const made = await WebAssembly.instantiate(source, { env: environment, wasi_snapshot_preview1: clock })
	const library = (made.instance ?? made).exports
	library._initialize()
	const session = library.neardup_open(0)
	const encoder = new TextEncoder()
	const decoder = new TextDecoder()
	let scratch = []
	const [K, B, F] = new Int32Array(library.memory.buffer, library.neardup_defaults(), 3)

	/* Memory grows, and moves, so each use asks for it anew. */
	const heap = () => new Uint8Array(library.memory.buffer)
	const view = () => new DataView(library.memory.buffer)
	const copyOf = (at, bytes) => heap().slice(at, at + bytes)

	/* Returns zeroed memory, which lasts until the call at hand ends. */
	function room(bytes) {
		const at = library.malloc(bytes + 1)

		if (at === 0)
			throw new NeardupError('out of memory', 5)
		scratch.push(at)
		heap().fill(0, at, at + bytes + 1)
		return at
	}

	/* Returns where bytes lie now, with a zero byte behind them. */
	function put(bytes) {
		const at = room(bytes.length)

		heap().set(bytes, at)
		return at
	}

	/* Returns where a string lies that ends at its first zero. */
	function putString(string, code = 1) {
		if (textOf(string).includes('\0'))
			throw new NeardupError(`${JSON.stringify(string).slice(0, 60)} has a character U+0000`, code)
		return put(encoder.encode(string))
	}

	/* Ends what a call took, whatever happens. */
	function scoped(body) {
		const outer = scratch

		scratch = []
		try {
			return body()
		} finally {
			scratch.forEach(library.free)
			scratch = outer
		}
	}

	/* Calls a function of neardup.h; throws what it refuses. */
	function call(name, ...parameters) {
		const code = library[`neardup_${name}`](session, ...parameters)

		if (code !== 0) {
			const at = library.neardup_message(session)
			throw new NeardupError(decoder.decode(copyOf(at, heap().indexOf(0, at) - at)), code)
		}
	}

	/* Calls a function whose last argument returns bytes. */
	function take(name, ...parameters) {
		const result = room(8)

		call(name, ...parameters, result)
		const at = view().getUint32(result, true)
		const bytes = copyOf(at, view().getUint32(result + 4, true))
		library.neardup_free(session, at)
		return bytes
	}

	/* Lets `body` use a signer. */
	function withSigner(kind, k, b, { scheme, lexicon }, body) {
		const at = room(4)
		const weights = typeof lexicon === 'string' ? encoder.encode(lexicon) : lexicon === undefined ? lexicon : valueOf(lexicon)

		if (k !== (k | 0) || b !== (b | 0))
			throw new NeardupError(`k and b are whole numbers, not ${k} and ${b}`, 1)
		call('signer_new', kind, k, b, scheme === undefined ? 0 : putString(scheme),
			weights === undefined ? 0 : put(weights), weights?.length ?? 0, at)
		const signer = view().getUint32(at, true)
		try {
			return body(signer)
		} finally {
			library.neardup_signer_free(session, signer)
		}
	}

	/* Returns a text in UTF-8, which has no halves of surrogate pairs; TextEncoder would replace them. */
	function encode(text) {
		if (/\p{Surrogate}/u.test(textOf(text)))
			throw new NeardupError('a text has half of a surrogate pair', 2)
		return encoder.encode(text)
	}

	/* Makes the value of a text. */
	function signOne(signer, text) {
		return scoped(() => {
			const utf8 = encode(text)

			return take('sign', signer, put(utf8), utf8.length)
		})
	}

	/* Makes the value of a text, or those of an array of texts. */
	function make(kind, k, b, texts, how) {
		return scoped(() => withSigner(kind, k, b, how, signer =>
			Array.isArray(texts) ? Array.from(texts, text => signOne(signer, text)) : signOne(signer, texts)))
	}

	/* Returns where a neardup_values of an array lies. */
	function putValues(values) {
		for (const value of listOf(values))
			valueOf(value)
		const at = room(40)
		const offset = room(8 * (values.length + 1))
		const bytes = room(values.reduce((sum, value) => sum + value.length, 0))
		let end = 0

		values.forEach((value, i) => {
			heap().set(value, bytes + end)
			end += value.length
			view().setBigUint64(offset + 8 * (i + 1), BigInt(end), true)
		})
		const fields = [values.length > 0 ? kindOf(values[0]) : MINHASH, values.length, bytes, 0, offset, 0, 0, 0, 0, 0]
		fields.forEach((field, i) => view().setUint32(at + 4 * i, field, true))
		return at
	}

	/* Returns where a neardup_options lies. */
	function putOptions(threshold, { multiset = false, containment = false, nearest = false }) {
		const at = room(48)

		view().setFloat64(at, checked(typeof threshold === 'number', threshold, 'a threshold is a number'), true)
		heap().set([multiset, containment, nearest], at + 8)
		return at
	}

	function compare(x, y) {
		return scoped(() => {
			const at = room(32)

			call('compare', kindOf(valueOf(x)), put(x), x.length, put(valueOf(y)), y.length, at)
			const [similarity, containment, weighted] = [8, 16, 24].map(field => view().getFloat64(at + field, true))
			return { distance: view().getInt32(at, true), similarity, containment, weighted }
		})
	}

	return {
		/* Makes minhashes as to_minhash(text, k, b, scheme) in SQL, or of a lexicon, as text or in binary format. */
		minhash: (texts, { k = K, b = B, ...how } = {}) => make(MINHASH, k, b, texts, how),

		/* Makes simhashes as to_simhash(text, k, scheme) in SQL. */
		simhash: (texts, { k = F, ...how } = {}) => make(SIMHASH, k, 1, texts, how),

		/* Makes sets as to_shingles(text, scheme) in SQL. */
		shingles: (texts, how = {}) => make(SHINGLES, 0, 0, texts, how),

		/* Returns the distance, similarity, containment and weighted resemblance of two values; 0 if one does not apply. */
		compare,
		similarity: (x, y) => compare(x, y).similarity,

		/* Counts the insertions, deletions and substitutions of characters that make y of x. */
		editDistance: (x, y) => scoped(() => {
			const at = room(8)
			const [a, b] = [encode(x), encode(y)]

			call('edit_distance', put(a), a.length, put(b), b.length, at)
			return Number(view().getBigInt64(at, true))
		}),

		/* Returns a value as the server prints it, and the other way round; kind is 'minhash', 'simhash' or 'shingles'. */
		toText: value => scoped(() => decoder.decode(take('print', kindOf(valueOf(value)), put(value), value.length))),
		fromText: (kind, text) => scoped(() => take('parse', KINDS[kind], putString(text, 2))),

		/* Returns all pairs { a, b, similarity } of values, by number, as neardup_pairs() in SQL; b is of `against`, if given. */
		pairs: (values, threshold, how = {}) => scoped(() => {
			const [start, count] = [room(8), room(8)]

			call('pairs', putValues(values), how.against == null ? 0 : putValues(how.against), putOptions(threshold, how), start, count)
			const at = view().getUint32(start, true)
			const pairs = Array.from({ length: view().getUint32(count, true) }, (_, i) => ({
				a: view().getUint32(at + 16 * i, true),
				b: view().getUint32(at + 16 * i + 4, true),
				similarity: view().getFloat64(at + 16 * i + 8, true)
			}))
			library.neardup_free(session, at)
			return pairs
		}),

		/* Returns { keeper, similarity } of each value, as neardup_clusters() in SQL: its own number if it stays, or NO_KEEPER. */
		clusters: (values, threshold, how = {}) => scoped(() => {
			const [keeper, similarity] = [room(4 * listOf(values).length), room(8 * values.length)]

			call('clusters', putValues(values), how.against == null ? 0 : putValues(how.against), putOptions(threshold, how), keeper, similarity)
			return values.map((_, i) => ({
				keeper: view().getUint32(keeper + 4 * i, true),
				similarity: view().getFloat64(similarity + 8 * i, true)
			}))
		})
	}
}
