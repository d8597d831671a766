import test from 'ava'
import { fuzzAudioMessages, fuzzDescriptions, fuzzRtsp, fuzzStrayBytes } from '../../support/sources/stream-fuzz.ts'

const RUNS = 100_000
/** The parsers take much less. A run that keeps what it read needs more. */
const MAX_GROWTH_BYTES = 200 * 2 ** 20

test(`${RUNS} random inputs crash or block no parser of RTMP and RTSP, and memory is bounded`, async (t) => {
  t.timeout(1_800_000)
  const before = process.memoryUsage().rss
  fuzzAudioMessages(RUNS)
  fuzzDescriptions(RUNS)
  await fuzzStrayBytes(RUNS)
  await fuzzRtsp(RUNS)
  t.true(process.memoryUsage().rss - before < MAX_GROWTH_BYTES)
})
