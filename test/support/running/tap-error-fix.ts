/**
 * Loaded into ava's own process (`--import`). ava writes errors as YAML with a library that throws on `undefined`. An
 * error without a position in our code, such as a failed `fetch`, has an `undefined` member. Without this fix it would
 * end the whole run instead of one test.
 */
import { createRequire } from 'node:module'

type Dump = (value: unknown, options?: object) => string

const requireOfAva = createRequire(createRequire(import.meta.url).resolve('ava'))
const yaml = createRequire(requireOfAva.resolve('supertap'))('js-yaml') as { safeDump: Dump }
const { safeDump } = yaml
yaml.safeDump = (value, options) => safeDump(value, { ...options, skipInvalid: true })

// The processes of the tests do not need the fix.
process.execArgv.splice(0)
