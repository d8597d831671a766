import test from 'ava'
import fc from 'fast-check'
import { DEFAULT_ENGINE_SETTINGS, type EngineSettings } from '../../../domain/live/settings.ts'
import { scriptedAudio } from '../../support/doubles/scripted/script.ts'
import { streamAudio, type Streamed } from '../../support/pipeline/pipeline-stream.ts'

/** Returns a unique word for each place in the script. */
const wordAt = (place: number, letters: number): string =>
  Array.from({ length: letters }, (_, i) =>
    String.fromCodePoint(97 + ((place * 7919 + i * (31 + (place % 17))) % 26)),
  ).join('') + place

/** Random words; each lasts about 1 s for every 12 letters. */
const script = fc
  .array(
    fc.record({
      letters: fc.integer({ min: 2, max: 9 }),
      pause: fc.oneof(
        { weight: 5, arbitrary: fc.double({ min: 0, max: 0.06, noNaN: true }) },
        { weight: 2, arbitrary: fc.double({ min: 0.1, max: 3, noNaN: true }) },
      ),
      stretch: fc.double({ min: 0.8, max: 1.25, noNaN: true }),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((words) =>
    words.map(({ letters, pause, stretch }, i) => ({
      text: wordAt(i, letters),
      pause,
      seconds: (letters / 12) * stretch,
    })),
  )

const settings = fc
  .record({
    vad: fc.boolean(),
    mode: fc.constantFrom('partial' as const, 'final' as const),
    min_buffer: fc.double({ min: 0.3, max: 3, noNaN: true }),
    max_buffer: fc.double({ min: 6, max: 30, noNaN: true }),
    buffer_timeout: fc.double({ min: 0.3, max: 3, noNaN: true }),
    max_delay: fc.double({ min: 2, max: 20, noNaN: true }),
    max_chars: fc.integer({ min: 12, max: 80 }),
    max_lines: fc.integer({ min: 1, max: 3 }),
  })
  .map((settings) => ({ ...DEFAULT_ENGINE_SETTINGS, ...settings }))

const pace = fc.record({
  chunk: fc.integer({ min: 1000, max: 40000 }),
  ticks: fc.integer({ min: 0, max: 4 }),
  latency: fc.integer({ min: 0, max: 6 }),
  windowSeconds: fc.constantFrom(10, 30),
})

/** Returns the first broken rule, or null. */
const problemOf = (spoken: string, config: EngineSettings, { finals, frames, failures }: Streamed): string | null => {
  const transcribed = finals.map(({ text }) => text).join(' ')
  if (failures.length > 0) return `failed: ${JSON.stringify(failures)}`
  if (transcribed !== spoken) return `spoken      ${spoken}\ntranscribed ${transcribed}`
  let [end, segment] = [0, 1]
  for (const frame of frames) {
    if (frame.segment !== segment) return `segment ${frame.segment} while ${segment} was open`
    if (frame.start < end || frame.end < frame.start)
      return `segment ${segment} from ${frame.start} to ${frame.end} after ${end}`
    if (config.mode === 'final' && !frame.final) return 'a partial in mode final'
    if (!frame.final) continue
    end = frame.end
    segment += 1
  }
  return null
}

test('finals contain every spoken word once and in order, for any pace, pauses and settings', async (t) => {
  await fc.assert(
    fc.asyncProperty(script, settings, pace, async (words, config, pace) => {
      const streamed = await streamAudio({ words, audio: scriptedAudio(words, 1), settings: config, ...pace })
      const problem = problemOf(words.map(({ text }) => text).join(' '), config, streamed)
      if (problem !== null) throw new Error(problem)
    }),
    { numRuns: 150 },
  )
  t.pass()
})

test('text after the cut of a full buffer is transcribed again before it is final', async (t) => {
  const spoken: ReadonlyArray<readonly [text: string, pause: number, seconds: number]> = [
    ['af0', 0, 0.13333333333333333],
    ['pvbh1', 0, 0.26666666666666666],
    ['elszgnubi2', 0, 0.68590625],
    ['tbjr3', 0.27453125, 0.40790625],
    ['irajs4', 0, 0.42446875],
    ['xhrblvfp5', 0, 0.67103125],
    ['mx6', 0.42246875, 0.15771875],
    ['bnz7', 0, 0.26009375],
    ['qdqdqdq8', 0, 0.59603125],
    ['fthvjxlzn9', 0, 0.60059375],
    ['ujyncrgv10', 0.10003125, 0.56640625],
    ['jz11', 0.1, 0.14040625],
  ]
  const words = spoken.map(([text, pause, seconds]) => ({ text, pause, seconds }))
  const config = {
    ...DEFAULT_ENGINE_SETTINGS,
    min_buffer: 0.3,
    max_buffer: 6,
    buffer_timeout: 0.41603125,
    max_delay: 2,
    max_chars: 12,
    max_lines: 1,
  }
  const streamed = await streamAudio({
    words,
    audio: scriptedAudio(words, 1),
    settings: config,
    chunk: 1000,
    ticks: 1,
    latency: 0,
    windowSeconds: 10,
  })
  t.is(problemOf(words.map(({ text }) => text).join(' '), config, streamed), null)
})

test('after a cut in a pause, a word dated before the pause is recognised when transcribed again', async (t) => {
  const spoken: ReadonlyArray<readonly [text: string, pause: number, seconds: number]> = [
    ['af0', 0.24034375, 0.16765625],
    ['pv1', 0, 0.13333333333333333],
    ['elszgnub2', 0.68165625, 0.82503125],
    ['tb3', 2.95353125, 0.13333333333333333],
    ['ira4', 0, 0.2],
    ['xh5', 0.15671875, 0.13333333333333333],
    ['mxite6', 0.1, 0.44296875],
    ['bnzlx7', 0, 0.49965625],
    ['qd8', 0.1, 0.13746875],
  ]
  const words = spoken.map(([text, pause, seconds]) => ({ text, pause, seconds }))
  const changes = {
    vad: false,
    min_buffer: 0.87503125,
    max_buffer: 6,
    buffer_timeout: 1.87503125,
    max_delay: 2,
    max_chars: 12,
    max_lines: 1,
  }
  const config = { ...DEFAULT_ENGINE_SETTINGS, ...changes }
  const pushed = { chunk: 1000, ticks: 1, latency: 0, windowSeconds: 10 }
  const streamed = await streamAudio({ words, audio: scriptedAudio(words, 1), settings: config, ...pushed })
  t.is(problemOf(words.map(({ text }) => text).join(' '), config, streamed), null)
})
