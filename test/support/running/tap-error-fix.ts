/**
 * Loaded into ava's own process. Its TAP is written as YAML by a library that throws at `undefined`, which an error
 * without a place in our code has for one: a failed `fetch` would end the run in place of one test, and name none.
 */
import { createRequire } from 'node:module'

type Dump = (value: unknown, options?: object) => string

const avasOwn = createRequire(createRequire(import.meta.url).resolve('ava'))
const yaml = createRequire(avasOwn.resolve('supertap'))('js-yaml') as { safeDump: Dump }
const { safeDump } = yaml
yaml.safeDump = (value, options) => safeDump(value, { ...options, skipInvalid: true })

// Not for the processes of the tests, nor for those that they start.
process.execArgv.splice(0)
