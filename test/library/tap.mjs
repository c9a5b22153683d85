// Tests that print the lines of TAP.
let tests = 0

// Runs a test, which throws an error if it fails.
export function test(name, body) {
	tests++
	try {
		body()
		console.log(`ok ${tests} - ${name}`)
	} catch (error) {
		process.exitCode = 1
		console.log(`not ok ${tests} - ${name}\n# ${String(error.stack + (error.stderr ?? '')).replaceAll('\n', '\n# ')}`)
	}
}

// Says why a test does not run.
export function skip(reason) {
	console.log(`ok ${++tests} - # skip ${reason}`)
}

// Ends the tests.
export function done() {
	console.log(`1..${tests}`)
}
