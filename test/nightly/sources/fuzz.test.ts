import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { fuzzWebParsers } from '../../support/sources/fuzz.ts'

const RUNS = Number(process.env['STENOLOG_TEST_FUZZED_SOURCES'] ?? 100_000)
const ROUNDS = 10
const MAX_GROWTH_BYTES = 20 << 20

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const heapBytes = (): number => {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

test('the parsers of web sources bear any input, and keep nothing of it', async (t) => {
  t.timeout(3_600_000)
  // Compiled code and caches fill in the first round.
  await fuzzWebParsers(RUNS / ROUNDS)
  const before = heapBytes()
  for (let round = 1; round < ROUNDS; round += 1) await fuzzWebParsers(RUNS / ROUNDS)
  const growth = heapBytes() - before
  t.log(`${RUNS} inputs for each parser; the heap grew by ${(growth / 2 ** 20).toFixed(1)} MiB`)
  t.true(growth < MAX_GROWTH_BYTES)
})
