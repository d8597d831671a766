import { readFileSync } from 'node:fs'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { judge } from '../../../application/pipeline/policy/hypothesis-filters.ts'
import type { Provider } from '../../../infrastructure/onnx/providers/execution-provider.ts'
import { readWhisperDirectory } from '../../../infrastructure/onnx/whisper/whisper-directory.ts'
import { loadWhisper } from '../../../infrastructure/onnx/whisper/whisper-runner.ts'
import { referenceLimit } from '../../../infrastructure/onnx/whisper/token-limits.ts'
import type { WhisperRunner } from '../../../infrastructure/onnx/whisper/whisper-pass.ts'
import { readAudioFile } from '../../../interfaces/cli/streaming/audio-file.ts'

/** The provider to run on, for machines that have another than the CPU (docs/operate/gpu.md). */
const PROVIDER = (process.env['STENOLOG_TEST_PROVIDER'] ?? 'cpu') as Provider
/** The first so many clips of each kind alone: a GPU that the CPU draws takes seconds a token. */
const MOST_CLIPS = Number(process.env['STENOLOG_TEST_CLIPS'] ?? Infinity)

/**
 * The runner says what the reference says: a tiny Whisper, 30 clips, and what Python's `transformers` generated for
 * them, made by
 * tools/train/exactness/make_fixture.py. Its weights are such that every rule of the decoding changes some of the
 * texts.
 */
const FOLDER = 'test/support/fixtures/engine/exact-whisper'

interface Expected {
  readonly file: string
  readonly language: string
  readonly timestamps: boolean
  readonly shorter_window: boolean
  readonly tokens: ReadonlyArray<number>
  /**
   * How far the best token was ahead of the second at each step, end of text included; null where only one was
   * allowed.
   */
  readonly gaps: ReadonlyArray<number | null>
  readonly avg_logprob: number
  readonly no_speech_prob: number
  readonly text: string
  readonly compression_ratio: number
  readonly verdict: 'words' | 'silence' | 'rejected'
}

const expectations = JSON.parse(readFileSync(`${FOLDER}/expected.json`, 'utf8')) as ReadonlyArray<Expected>

const runnerFor = async (timestamps: boolean, dynamicWindow: boolean): Promise<WhisperRunner> => {
  const model = await readWhisperDirectory(FOLDER)
  if (E.isLeft(model)) throw new Error(model.left)
  return loadWhisper({ ...model.right, timestamps, dynamicWindow }, referenceLimit, PROVIDER)
}

const WINDOW = 5 * SAMPLE_RATE
const clips = new Map<string, Promise<Int16Array>>()
/** The reference cuts what is longer than its window; ours refuses it, and the pipeline never sends it. */
const clip = async (file: string): Promise<Int16Array> => {
  const samples = clips.get(file) ?? readAudioFile(`${FOLDER}/clips/${file}`)
  clips.set(file, samples)
  return (await samples).subarray(0, WINDOW)
}

/** Every difference between the reference and our runner. */
const differences = async (runner: WhisperRunner, expected: Expected): Promise<ReadonlyArray<string>> => {
  const samples = await clip(expected.file)
  const { tokens } = await runner.decode({ samples, language: expected.language })
  const hypothesis = await runner.transcribe({ samples, language: expected.language })
  const at = [...tokens, -1].findIndex((token, step) => token !== (expected.tokens[step] ?? -1))
  const apart = (name: string, ours: number, theirs: number, most: number): ReadonlyArray<string> =>
    Math.abs(ours - theirs) <= most ? [] : [`${name} ${ours}, not ${theirs}`]
  const text = hypothesis.segments
    .map((segment) => segment.text)
    .join('')
    .trim()
  const bytes = Buffer.byteLength(text)
  return [
    ...(at < 0 ? [] : [`token ${at} is ${tokens[at]}, not ${expected.tokens[at]} (gap ${expected.gaps[at]})`]),
    ...apart('avg_logprob', hypothesis.avgLogprob, expected.avg_logprob, 1e-3),
    ...apart('no_speech_prob', hypothesis.noSpeechProb, expected.no_speech_prob, 1e-3),
    // Node's zlib finds other matches than the one of Python: up to 4 bytes more or less here.
    ...(text === ''
      ? []
      : apart('compressed', bytes / hypothesis.compressionRatio, bytes / expected.compression_ratio, 4.5)),
    ...(text === expected.text ? [] : [`text "${text}", not "${expected.text}"`]),
    ...(judge(hypothesis) === expected.verdict ? [] : [`${judge(hypothesis)}, not ${expected.verdict}`]),
  ].map((difference) => `${expected.file}: ${difference}`)
}

for (const timestamps of [false, true])
  for (const [name, language, shorter] of [
    ['full', 'en', false],
    ['full', 'de', false],
    ['shorter', 'en', true],
  ] as const)
    test(`tokens and scores are the reference's: ${language}, ${name} windows, timestamps ${timestamps}`, async (t) => {
      const runner = await runnerFor(timestamps, shorter)
      const cases = expectations.filter(
        (expected) =>
          expected.timestamps === timestamps && expected.language === language && expected.shorter_window === shorter,
      )
      t.true(shorter ? cases.length > 20 : cases.length === 30)
      const found: string[] = []
      for (const expected of cases.slice(0, MOST_CLIPS)) found.push(...(await differences(runner, expected)))
      t.deepEqual(found, [])
    })

for (const timestamps of [false, true])
  test(`batched texts equal the reference for any number and length: timestamps ${timestamps}`, async (t) => {
    const found: string[] = []
    for (const shorter of [false, true]) {
      const runner = await runnerFor(timestamps, shorter)
      const all = expectations.filter(
        (expected) => expected.timestamps === timestamps && expected.shorter_window === shorter,
      )
      // Every second one of another language, where there are two; windows that the audio's length decides are seldom
      // equal.
      const cases = all.map((_, i) => all[(i * 31) % all.length] as Expected)
      for (
        let from = 0, rows = 2;
        from < Math.min(cases.length, MOST_CLIPS);
        from += rows, rows = rows === 2 ? 3 : rows === 3 ? 8 : 2
      ) {
        const batch = cases.slice(from, from + rows)
        const audios = await Promise.all(
          batch.map(async ({ file, language }) => ({ samples: await clip(file), language })),
        )
        const tokens = new Map<number, string>()
        await runner.decodeTogether(audios, (index, decoded) => {
          t.false(tokens.has(index))
          const { avg_logprob = 0, no_speech_prob = 0 } = batch[index] ?? {}
          t.true(
            Math.abs(decoded.avgLogprob - avg_logprob) <= 1e-3 &&
              Math.abs(decoded.noSpeechProb - no_speech_prob) <= 1e-3,
          )
          tokens.set(index, decoded.tokens.join(' '))
        })
        for (const [index, expected] of batch.entries())
          if (tokens.get(index) !== expected.tokens.join(' '))
            found.push(`${expected.file} of ${rows}: ${tokens.get(index)}, not ${expected.tokens.join(' ')}`)
      }
    }
    t.deepEqual(found, [])
  })
