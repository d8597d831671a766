import test from 'ava'
import fc from 'fast-check'
import { limitsOf } from '../../../application/pipeline/policy/policy-limits.ts'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import type { EngineSettings } from '../../../domain/live/settings.ts'
import { scriptedAudio } from '../../support/doubles/scripted/script.ts'
import type { ScriptedWord } from '../../support/doubles/scripted/script.ts'
import { streamAudio } from '../../support/pipeline/pipeline-stream.ts'
import type { Streamed } from '../../support/pipeline/pipeline-stream.ts'

const script = (unsure: number): fc.Arbitrary<ReadonlyArray<ScriptedWord>> =>
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
          { weight: 100 - unsure, arbitrary: fc.constant(false) },
          { weight: unsure, arbitrary: fc.constant(true) },
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
  chosen: Partial<Record<keyof EngineSettings, fc.Arbitrary<unknown>>> = {},
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
      ...chosen,
    })
    .map((some) => ({ ...DEFAULT_ENGINE_SETTINGS, ...some }) as EngineSettings)

const pace = fc.record({
  chunk: fc.integer({ min: 1000, max: 40000 }),
  ticks: fc.integer({ min: 0, max: 4 }),
  latency: fc.integer({ min: 0, max: 6 }),
  windowSeconds: fc.constantFrom(10, 30),
})
type Pace = typeof pace extends fc.Arbitrary<infer P> ? P : never

/** Where each word stops to sound, in samples. */
const endsOf = (words: ReadonlyArray<ScriptedWord>): ReadonlyArray<number> =>
  words.map((_, i) => scriptedAudio(words.slice(0, i + 1)).length)

const bare = (text: string): string => text.replace(/[\p{P}]+$/u, '')

/** What is wrong with what came of a script; null where nothing is. */
const problemOf = (
  words: ReadonlyArray<ScriptedWord>,
  config: EngineSettings,
  { windowSeconds }: Pace,
  streamed: Streamed,
): string | null => {
  const { finals, frames, failures, longestPass, isLate } = streamed
  if (failures.length > 0) return `failed: ${JSON.stringify(failures)}`
  if (isLate) return 'it did not end by itself'
  if (longestPass > limitsOf(config, windowSeconds).buffer.longestWithContext)
    return `a pass over ${longestPass / SAMPLE_RATE} s`
  const spoken = words.map(({ text }) => bare(text)).join(' ')
  const heard = finals
    .flatMap(({ text }) => text.split(' '))
    .map((word) => bare(word))
    .join(' ')
  if (heard !== spoken) return `spoken ${spoken}\nheard  ${heard}`
  const ends = endsOf(words)
  let [end, segment, said] = [0, 1, 0]
  for (const frame of frames) {
    if (frame.segment !== segment) return `segment ${frame.segment} while ${segment} was open`
    if (frame.start < end || frame.end < frame.start)
      return `segment ${segment} from ${frame.start} to ${frame.end} after ${end}`
    if (config.mode === 'final' && !frame.final) return 'a partial in mode final'
    if (!frame.final) continue
    end = frame.end
    segment += 1
    said += frame.text.split(' ').length
    if (frame.pushed < (ends[said - 1] ?? Infinity))
      return `${frame.text} is final at ${frame.pushed}, but sounds until ${ends[said - 1]}`
  }
  return null
}

/** What went wrong with the smallest example found; nothing where nothing does. */
const wrongOf = async (
  scripts: fc.Arbitrary<ReadonlyArray<ScriptedWord>>,
  settings: fc.Arbitrary<EngineSettings>,
): Promise<string> => {
  const property = fc.asyncProperty(scripts, settings, pace, async (words, config, how) => {
    const streamed = await streamAudio({
      words,
      audio: scriptedAudio(words, 1),
      settings: config,
      ...how,
      hasWordTimes: true,
      patience: 2000,
    })
    const problem = problemOf(words, config, how, streamed)
    if (problem !== null) throw new Error(problem)
  })
  const run = await fc.check(property, { numRuns: 150 })
  return run.failed
    ? `${run.errorInstance instanceof Error ? run.errorInstance.message : ''}\n${fc.defaultReportMessage(run)}`
    : ''
}

test('with word times every spoken word becomes final once, in order, after it was spoken [R150 R154]', async (t) => {
  t.is(await wrongOf(script(0), settingsOf()), '')
})

test('unsure words of drafts become final as the full window transcribed them', async (t) => {
  t.is(await wrongOf(script(20), settingsOf({ mode: fc.constant('partial') })), '')
})
