import test from 'ava'
import fc from 'fast-check'
import { limitsOf } from '../../../application/pipeline/policy/policy-limits.ts'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS, type EngineSettings } from '../../../domain/live/settings.ts'
import { scriptedAudio, type ScriptedWord } from '../../support/doubles/scripted/script.ts'
import { streamAudio, type Streamed } from '../../support/pipeline/pipeline-stream.ts'

/** Random words. `wrongPercent`: the share of the words that drafts transcribe wrongly. */
const script = (wrongPercent: number): fc.Arbitrary<ReadonlyArray<ScriptedWord>> =>
  fc
    .array(
      fc.record({
        letters: fc.integer({ min: 2, max: 9 }),
        ending: fc.constantFrom('', '', '', '', ',', '.', '?!'),
        pause: fc.oneof(
          { weight: 5, arbitrary: fc.double({ min: 0, max: 0.06, noNaN: true }) },
          { weight: 2, arbitrary: fc.double({ min: 0.1, max: 6, noNaN: true }) },
        ),
        stretch: fc.double({ min: 0.8, max: 1.25, noNaN: true }),
        misheard: fc.oneof(
          { weight: 100 - wrongPercent, arbitrary: fc.constant(false) },
          { weight: wrongPercent, arbitrary: fc.constant(true) },
        ),
      }),
      { minLength: 1, maxLength: 60 },
    )
    .map((words) =>
      words.map(({ letters, ending, pause, stretch, misheard }, i) => ({
        text: `${'abcdefghijklmnopqrstuvwxyz'.slice(i % 16).slice(0, letters)}${i}${ending}`,
        pause,
        seconds: (letters / 12) * stretch,
        ...(misheard && { misheard: `wrong${i}` }),
      })),
    )

const settingsOf = (
  fixed: Partial<Record<keyof EngineSettings, fc.Arbitrary<unknown>>> = {},
): fc.Arbitrary<EngineSettings> =>
  fc
    .record({
      vad: fc.boolean(),
      mode: fc.constantFrom('partial' as const, 'final' as const),
      min_buffer: fc.double({ min: 0.1, max: 3, noNaN: true }),
      max_buffer: fc.double({ min: 3, max: 30, noNaN: true }),
      buffer_timeout: fc.double({ min: 0.3, max: 3, noNaN: true }),
      max_delay: fc.double({ min: 2, max: 20, noNaN: true }),
      max_chars: fc.integer({ min: 14, max: 80 }),
      max_lines: fc.integer({ min: 1, max: 3 }),
      ...fixed,
    })
    .map((settings) => ({ ...DEFAULT_ENGINE_SETTINGS, ...settings }) as EngineSettings)

const pace = fc.record({
  chunk: fc.integer({ min: 1000, max: 40000 }),
  ticks: fc.integer({ min: 0, max: 4 }),
  latency: fc.integer({ min: 0, max: 6 }),
  windowSeconds: fc.constantFrom(10, 30),
})
type Pace = typeof pace extends fc.Arbitrary<infer P> ? P : never

/** The end of each word, in samples. */
const endsOf = (words: ReadonlyArray<ScriptedWord>): ReadonlyArray<number> =>
  words.map((_, i) => scriptedAudio(words.slice(0, i + 1)).length)

const bare = (text: string): string => text.replace(/[\p{P}]+$/u, '')

/** Returns the first broken rule, or null. */
const problemOf = (
  words: ReadonlyArray<ScriptedWord>,
  config: EngineSettings,
  { windowSeconds }: Pace,
  streamed: Streamed,
): string | null => {
  const { finals, frames, failures, longestPass, isLate } = streamed
  if (failures.length > 0) return `failed: ${JSON.stringify(failures)}`
  if (isLate) return 'finish timed out'
  if (longestPass > limitsOf(config, windowSeconds).buffer.longestWithContext)
    return `a pass over ${longestPass / SAMPLE_RATE} s`
  const spoken = words.map(({ text }) => bare(text)).join(' ')
  const transcribed = finals
    .flatMap(({ text }) => text.split(' '))
    .map((word) => bare(word))
    .join(' ')
  if (transcribed !== spoken) return `spoken      ${spoken}\ntranscribed ${transcribed}`
  const ends = endsOf(words)
  let [end, segment, finalWords] = [0, 1, 0]
  for (const frame of frames) {
    if (frame.segment !== segment) return `segment ${frame.segment} while ${segment} was open`
    if (frame.start < end || frame.end < frame.start)
      return `segment ${segment} from ${frame.start} to ${frame.end} after ${end}`
    if (config.mode === 'final' && !frame.final) return 'a partial in mode final'
    if (!frame.final) continue
    end = frame.end
    segment += 1
    finalWords += frame.text.split(' ').length
    if (frame.pushed < (ends[finalWords - 1] ?? Infinity))
      return `${frame.text} is final at ${frame.pushed}, but is spoken until ${ends[finalWords - 1]}`
  }
  return null
}

/** Returns the smallest failing example with its problem, or an empty string. */
const failureOf = async (
  scripts: fc.Arbitrary<ReadonlyArray<ScriptedWord>>,
  settings: fc.Arbitrary<EngineSettings>,
): Promise<string> => {
  const property = fc.asyncProperty(scripts, settings, pace, async (words, config, pace) => {
    const streamed = await streamAudio({
      words,
      audio: scriptedAudio(words, 1),
      settings: config,
      ...pace,
      hasWordTimes: true,
      patience: 2000,
    })
    const problem = problemOf(words, config, pace, streamed)
    if (problem !== null) throw new Error(problem)
  })
  const run = await fc.check(property, { numRuns: 150 })
  return run.failed
    ? `${run.errorInstance instanceof Error ? run.errorInstance.message : ''}\n${fc.defaultReportMessage(run)}`
    : ''
}

test('with word times every spoken word becomes final once, in order, after it was spoken', async (t) => {
  t.is(await failureOf(script(0), settingsOf()), '')
})

test('words that the drafts got wrong become final as the full pass transcribes them', async (t) => {
  t.is(await failureOf(script(20), settingsOf({ mode: fc.constant('partial') })), '')
})
