import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Hypothesis } from '../../../application/ports/engine.ts'
import { loopLength } from '../../../infrastructure/onnx/words/loops.ts'
import { tokenStarts } from '../../../infrastructure/onnx/words/attention-times.ts'
import { wordsOfTokens } from '../../../infrastructure/onnx/words/token-words.ts'
import { readAudioFile } from '../../../interfaces/cli/streaming/audio-file.ts'
import { loadBase, NO_BEGINNING, SPEECH_RECORDINGS, withBase } from '../../support/models/whisper-base.ts'

/** Returns the attention of a head that attends to one span of frames for each token. */
const headOf = (
  frames: number,
  spans: ReadonlyArray<readonly [from: number, to: number]>,
): ReadonlyArray<Float32Array> =>
  spans.map(([from, to]) => Float32Array.from({ length: frames }, (_, frame) => (frame >= from && frame < to ? 1 : 0)))

test('a token starts at the first frame that the attention heads attend to', (t) => {
  const spans = [[0, 10], [10, 30], [30, 45], [45, 60]] as const
  t.deepEqual(tokenStarts([headOf(60, spans)], 60), [0, 10, 30, 45])
  t.deepEqual(
    tokenStarts([headOf(80, spans), headOf(80, spans)], 60),
    [0, 10, 30, 45],
    'frames after the audio do not count',
  )
})

test('token times never decrease and lie in the audio for any attention', (t) => {
  const noise = (tokens: number, frames: number): ReadonlyArray<Float32Array> =>
    Array.from({ length: tokens }, (_, i) =>
      Float32Array.from({ length: frames }, (__, j) => ((i * 7919 + j * 104729) % 1009) / 1009),
    )
  const silent = (tokens: number, frames: number): ReadonlyArray<Float32Array> =>
    Array.from({ length: tokens }, () => new Float32Array(frames))
  for (const make of [noise, silent])
    for (const [tokens, frames] of [[0, 5], [1, 1], [1, 50], [9, 4], [30, 1], [12, 200]] as const) {
      const starts = tokenStarts([make(tokens, frames), make(tokens, frames)], frames)
      t.is(starts.length, tokens)
      t.true(
        starts.every((start, i) => start >= (starts[i - 1] ?? 0) && start < frames),
        `${tokens} tokens, ${frames} frames: ${starts.join(' ')}`,
      )
    }
  t.is(tokenStarts([noise(1, 50)], 50)[0], 0)
})

/** Returns the words of text pieces. Each piece is one token. An incomplete character continues in the next piece. */
const wordsIn = (...pieces: ReadonlyArray<string>) =>
  wordsOfTokens(
    pieces.map((_, i) => i),
    (tokens) => Buffer.concat(tokens.map((token) => Buffer.from(pieces[token] ?? '', 'latin1'))).toString('utf8'),
  )
const bytes = (text: string): string => Buffer.from(text).toString('latin1')

test('a word starts with a space and includes the following punctuation', (t) => {
  const found = wordsIn(' It', "'s", ' the', ' U', '.S', '.', ' twenty', '-', 'five', ',', ' "', 'Yes', '!"')
  t.deepEqual(found.map(({ text, spoken, tokens: { length } }) => [text, spoken, length]), [
    [" It's", 2, 2], [' the', 1, 1], [' U.S.', 2, 3], [' twenty-five,', 3, 4], [' "Yes!"', 2, 3],
  ])
  t.deepEqual(
    wordsIn('ever', '.', ' So').map(({ text }) => text),
    ['ever.', ' So'],
    'the rest of an earlier word comes first',
  )
  t.deepEqual(wordsIn(), [])
})

test('without spaces each token is a word, and tokens that share a character stay together', (t) => {
  t.deepEqual(
    wordsIn(bytes('東京'), bytes('は'), bytes('、'), bytes('暑い')).map(({ text, spoken }) => [text, spoken]),
    [
      ['東京', 1],
      ['は、', 1],
      ['暑い', 1],
    ],
  )
  const [first, second] = [bytes('鬱').slice(0, 2), bytes('鬱').slice(2)]
  t.deepEqual(
    wordsIn(bytes('憂'), first, second, bytes('。')).map(({ text, spoken, tokens }) => [text, spoken, tokens.length]),
    [['憂', 1, 1], ['鬱。', 2, 3]],
  )
  t.is(wordsIn(' a', first).length, 1, 'bytes that never become a character make no word')
})

test('a repetition is a loop: 1 token 8 times, 2 tokens 5 times, 3 tokens 4 times, more 3 times', (t) => {
  const repeated = (length: number, times: number): ReadonlyArray<number> => [
    90,
    91,
    ...Array.from({ length: length * times }, (_, i) => i % length),
  ]
  for (const [length, times] of [[1, 8], [2, 5], [3, 4], [4, 3], [16, 3]] as const) {
    t.is(loopLength(repeated(length, times)), length * (times - 1), `${length} tokens ${times} times`)
    t.is(loopLength(repeated(length, times - 1)), 0, `${length} tokens ${times - 1} times`)
  }
  t.is(loopLength(repeated(17, 3)), 0)
  t.is(loopLength([]), 0)
})

const tokensIn = ({ words = [] }: Hypothesis): ReadonlyArray<number> => words.flatMap(({ tokens }) => tokens)

withBase('word times of a real recording match those of faster-whisper', async (t) => {
  const { transcribe, hasWordTimes } = await loadBase()
  t.true(hasWordTimes)
  const { words: reference } = (
    JSON.parse(readFileSync(join(SPEECH_RECORDINGS, 'manifest.json'), 'utf8')) as ReadonlyArray<{
      file: string
      words: ReadonlyArray<[number, number, string]>
    }>
  ).find(({ file }) => file === 'jfk.wav') ?? { words: [] }
  for (const isDraft of [false, true]) {
    const { words = [] } = await transcribe({
      samples: await readAudioFile(join(SPEECH_RECORDINGS, 'jfk.wav')),
      language: 'en',
      beginning: NO_BEGINNING,
      isDraft,
    })
    const form = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '')
    t.deepEqual(words.map(({ text }) => form(text)), reference.map(([, , text]) => form(text)))
    const deviations = words
      .map(({ start }, i) => Math.abs(start - (reference[i]?.[0] ?? Infinity)))
      .toSorted((a, b) => a - b)
    t.log(`median ${deviations[Math.floor(deviations.length / 2)]} s, most ${deviations.at(-1)} s`)
    t.true((deviations[Math.floor(deviations.length / 2)] ?? Infinity) <= 0.15)
    t.true((deviations[Math.floor(deviations.length * 0.95)] ?? Infinity) <= 0.4)
    t.true(
      words.every(
        ({ start, end, probability }, i) =>
          end >= start && start >= (words[i - 1]?.start ?? 0) && probability > 0 && probability <= 1,
      ),
    )
  }
})

withBase('a job with a prefix gives the tokens that follow it in the whole text, alone and in a batch', async (t) => {
  const { transcribe, transcribeTogether } = await loadBase()
  const [jfk, quilter] = await Promise.all(
    ['jfk.wav', 'quilter.wav'].map((file) => readAudioFile(join(SPEECH_RECORDINGS, file))),
  )
  if (jfk === undefined || quilter === undefined) throw new Error('no recordings')
  const whole = await transcribe({ samples: jfk, language: 'en', beginning: NO_BEGINNING })
  const prefix = (whole.words ?? []).slice(0, 8).flatMap(({ tokens }) => tokens)
  const job = { samples: jfk, language: 'en', beginning: { ...NO_BEGINNING, prefix } }
  const rest = await transcribe(job)
  t.deepEqual([...prefix, ...tokensIn(rest)], tokensIn(whole))
  for (const [i, { start }] of (rest.words ?? []).entries())
    t.true(Math.abs(start - (whole.words?.[i + 8]?.start ?? 0)) <= 0.1)
  const jobs = [
    job,
    {
      ...job,
      samples: quilter,
      beginning: {
        ...NO_BEGINNING,
        prefix: tokensIn(await transcribe({ samples: quilter, language: 'en', beginning: NO_BEGINNING })).slice(
          0,
          prefix.length,
        ),
      },
    },
  ]
  const together: Array<Hypothesis> = []
  await transcribeTogether(jobs, (index, hypothesis) => void (together[index] = hypothesis))
  t.deepEqual(together.map(tokensIn), [tokensIn(rest), tokensIn(await transcribe(jobs[1] ?? job))])
})

withBase('only the end of a too long context is used', async (t) => {
  const { transcribe } = await loadBase()
  const samples = (await readAudioFile(join(SPEECH_RECORDINGS, 'jfk.wav'))).subarray(0, 40_000)
  const context = Array.from({ length: 2000 }, (_, i) => 400 + (i % 900))
  const long = await transcribe({ samples, language: 'en', beginning: { ...NO_BEGINNING, context } })
  const room = 448 / 2 - 1 - 4
  const cut = await transcribe({
    samples,
    language: 'en',
    beginning: { ...NO_BEGINNING, context: context.slice(-room) },
  })
  t.deepEqual(long, cut)
})

withBase('a model without known alignment heads refuses a job with a beginning', async (t) => {
  const { transcribe, hasWordTimes } = await loadBase((model) => ({ ...model, alignmentHeads: [] }))
  t.false(hasWordTimes)
  await t.throwsAsync(transcribe({ samples: new Int16Array(16000), language: 'en', beginning: NO_BEGINNING }), {
    message: /no word times/,
  })
})
