import test from 'ava'
import { fuzzWebParsers } from '../../support/sources/fuzz.ts'

const RUNS = Number(process.env['STENOLOG_TEST_FUZZED_SOURCES'] ?? 100_000)
const ROUNDS = 10
const MAX_GROWTH_BYTES = 100 << 20

test('the parsers of web sources bear any input, and their memory is bounded', async (t) => {
  t.timeout(3_600_000)
  // Compiled code and caches fill in the first round.
  await fuzzWebParsers(RUNS / ROUNDS)
  const before = process.memoryUsage().heapUsed
  for (let round = 1; round < ROUNDS; round += 1) await fuzzWebParsers(RUNS / ROUNDS)
  const growth = process.memoryUsage().heapUsed - before
  t.log(`${RUNS} inputs for each parser; the heap grew by ${(growth / 2 ** 20).toFixed(0)} MiB`)
  t.true(growth < MAX_GROWTH_BYTES)
})
