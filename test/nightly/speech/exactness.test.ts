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

/** The execution provider of the tests: `cpu`, or a provider for a GPU (docs/operate/gpu.md). */
const PROVIDER = (process.env['STENOLOG_TEST_PROVIDER'] ?? 'cpu') as Provider
/** The number of clips of each kind. An emulated GPU takes seconds for each token, so a run may use fewer clips. */
const MAX_CLIPS = Number(process.env['STENOLOG_TEST_CLIPS'] ?? Infinity)

/**
 * The reference is Python's `transformers`. The fixture has a tiny Whisper, 30 clips, and the texts that `transformers`
 * generated for them. tools/train/exactness/make_fixture.py makes the fixture. It chooses weights for which every rule
 * of the decoding changes some of the texts.
 */
const FOLDER = 'test/support/fixtures/engine/exact-whisper'

interface Expected {
  readonly file: string
  readonly language: string
  readonly timestamps: boolean
  readonly shorter_window: boolean
  readonly tokens: ReadonlyArray<number>
  /**
   * The difference of the scores of the best and the second token at each step, including the end of the text. Null
   * where only one token was allowed.
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
/** The reference cuts longer audio to its window. Our runner refuses longer audio, so the test cuts it too. */
const clip = async (file: string): Promise<Int16Array> => {
  const samples = clips.get(file) ?? readAudioFile(`${FOLDER}/clips/${file}`)
  clips.set(file, samples)
  return (await samples).subarray(0, WINDOW)
}

/** Returns every difference between the reference and our runner. */
const differences = async (runner: WhisperRunner, expected: Expected): Promise<ReadonlyArray<string>> => {
  const samples = await clip(expected.file)
  const { tokens } = await runner.decode({ samples, language: expected.language })
  const hypothesis = await runner.transcribe({ samples, language: expected.language })
  const step = [...tokens, -1].findIndex((found, index) => found !== (expected.tokens[index] ?? -1))
  const compare = (name: string, ours: number, theirs: number, tolerance: number): ReadonlyArray<string> =>
    Math.abs(ours - theirs) <= tolerance ? [] : [`${name} ${ours}, not ${theirs}`]
  const [token, expectedToken, gap] = [tokens[step], expected.tokens[step], expected.gaps[step]]
  const text = hypothesis.segments
    .map((segment) => segment.text)
    .join('')
    .trim()
  const bytes = Buffer.byteLength(text)
  return [
    ...(step < 0 ? [] : [`token ${step} is ${token}, not ${expectedToken} (gap ${gap})`]),
    ...compare('avg_logprob', hypothesis.avgLogprob, expected.avg_logprob, 1e-3),
    ...compare('no_speech_prob', hypothesis.noSpeechProb, expected.no_speech_prob, 1e-3),
    // The zlib of Node and the zlib of Python compress these texts to sizes that differ by up to 4 bytes.
    ...(text === ''
      ? []
      : compare('compressed', bytes / hypothesis.compressionRatio, bytes / expected.compression_ratio, 4.5)),
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
    test(`tokens and scores equal the reference: ${language}, ${name} windows, timestamps ${timestamps}`, async (t) => {
      const runner = await runnerFor(timestamps, shorter)
      const cases = expectations.filter(
        (expected) =>
          expected.timestamps === timestamps && expected.language === language && expected.shorter_window === shorter,
      )
      t.true(shorter ? cases.length > 20 : cases.length === 30)
      const found: string[] = []
      for (const expected of cases.slice(0, MAX_CLIPS)) found.push(...(await differences(runner, expected)))
      t.deepEqual(found, [])
    })

for (const timestamps of [false, true])
  test(`batched texts equal the reference, in batches of 2, 3 and 8: timestamps ${timestamps}`, async (t) => {
    const found: string[] = []
    for (const shorter of [false, true]) {
      const runner = await runnerFor(timestamps, shorter)
      const all = expectations.filter(
        (expected) => expected.timestamps === timestamps && expected.shorter_window === shorter,
      )
      // A fixed permutation that mixes the languages within a batch.
      const cases = all.map((_, i) => all[(i * 31) % all.length] as Expected)
      for (
        let from = 0, rows = 2;
        from < Math.min(cases.length, MAX_CLIPS);
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
