import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { SAMPLE_RATE, VAD_FRAME } from '../../../../application/ports/engine.ts'
import type { Hypothesis, JobFailed, SpeechEngine, TranscribeJob } from '../../../../application/ports/engine.ts'
import { hypothesisAfter } from './word-times.ts'

/** A word of a script: seconds of silence before it, seconds that it sounds. */
export interface ScriptedWord {
  readonly text: string
  readonly pause: number
  readonly seconds: number
  /** What a draft takes it for, unsure of it; only of an engine with word times. */
  readonly misheard?: string
  /** The language that it is in; `en` where nothing is said. */
  readonly language?: string
}

/** Samples of one value. */
export interface Run {
  readonly value: number
  readonly from: number
  readonly to: number
}

const FIRST_VALUE = 1000

/** Audio in which every sample of a word tells which word of the script it is, and silence is 0: the engine can read it back. */
export const scriptedAudio = (words: ReadonlyArray<ScriptedWord>, trailingSilence = 0): Int16Array => {
  const lengths = words.map(({ pause, seconds }) => [Math.round(pause * SAMPLE_RATE), Math.round(seconds * SAMPLE_RATE)] as const)
  const samples = new Int16Array(lengths.reduce((sum, [a, b]) => sum + a + b, Math.round(trailingSilence * SAMPLE_RATE)))
  let at = 0
  for (const [i, [silence, sound]] of lengths.entries()) {
    samples.fill(FIRST_VALUE + i, at + silence, at + silence + sound)
    at += silence + sound
  }
  return samples
}

const runsOf = (samples: Int16Array): ReadonlyArray<Run> => {
  const runs: Array<Run> = []
  let from = 0
  for (let i = 1; i <= samples.length; i += 1) {
    if (i < samples.length && samples[i] === samples[from]) continue
    if (samples[from] !== 0) runs.push({ value: samples[from] ?? 0, from, to: i })
    from = i
  }
  return runs
}

/** What the engine hears: the words that are whole in the audio, in one segment, as models without word times do. */
const listen = (words: ReadonlyArray<ScriptedWord>, samples: Int16Array): Hypothesis => {
  const heard = runsOf(samples).filter(({ value, from, to }) => to - from === Math.round((words[value - FIRST_VALUE]?.seconds ?? 0) * SAMPLE_RATE))
  const [first, last] = [heard[0], heard.at(-1)]
  const text = heard.map(({ value }) => words[value - FIRST_VALUE]?.text ?? '').join(' ')
  const segments = first === undefined || last === undefined ? [] : [{ start: first.from / SAMPLE_RATE, end: last.to / SAMPLE_RATE, text }]
  return { segments, avgLogprob: -0.2, noSpeechProb: 0, compressionRatio: 1.2 }
}

/** The language of most of the audio, as likely as there is much of it. */
const languageIn = (words: ReadonlyArray<ScriptedWord>, samples: Int16Array): Hypothesis => {
  const runs = Map.groupBy(runsOf(samples), ({ value }) => words[value - FIRST_VALUE]?.language ?? 'en')
  const lengths = [...runs].map(([code, of]) => ({ code, length: of.reduce((sum, { from, to }) => sum + to - from, 0) }))
  const all = lengths.reduce((sum, { length }) => sum + length, 0)
  const [most] = lengths.toSorted((a, b) => b.length - a.length)
  const language = most === undefined ? { code: 'en', probability: 0.2 } : { code: most.code, probability: most.length / all }
  return { segments: [], avgLogprob: 0, noSpeechProb: 0, compressionRatio: 0, language }
}

export interface ScriptedEngine extends SpeechEngine {
  readonly jobs: ReadonlyArray<TranscribeJob>
}

const loudness = (frame: Int16Array): number => frame.reduce((sum, sample) => sum + (sample === 0 ? 0 : 1), 0) / frame.length

/**
 * An engine that hears exactly what a script says. `delay` is awaited before every answer; `transcribe` and `detect`
 * may change an answer or fail it.
 */
export const scriptedEngine = (options: {
  readonly words: ReadonlyArray<ScriptedWord>
  readonly windowSeconds?: number
  /** It tells the times of its words, and goes on from those that are known. */
  readonly hasWordTimes?: boolean
  readonly parallelism?: number
  /** What a pass of its models is said to take; measured by nobody where absent. */
  readonly passSeconds?: number
  readonly delay?: () => Promise<void>
  readonly transcribe?: (heard: Hypothesis, job: TranscribeJob) => Either<JobFailed, Hypothesis>
  readonly detect?: (probabilities: Float32Array) => Either<JobFailed, Float32Array>
  /** For hours of audio: `jobs` stays empty, for each holds its samples. */
  readonly isForgetful?: boolean
}): ScriptedEngine => {
  const jobs: Array<TranscribeJob> = []
  const delay = options.delay ?? (() => Promise.resolve())
  return {
    jobs,
    deviceOf: () => ({ name: 'cpu', lanes: options.parallelism ?? 1 }),
    passTime: () => (options.passSeconds === undefined ? null : { usual: options.passSeconds, least: options.passSeconds }),
    pid: () => undefined,
    close: () => Promise.resolve(),
    load: () => () => Promise.resolve(E.right({ windowSeconds: options.windowSeconds ?? 30, hasWordTimes: options.hasWordTimes ?? false })),
    transcribe: (job) => async () => {
      if (options.isForgetful !== true) jobs.push(job)
      const { beginning, samples, language, isDraft = false } = job
      const heard = language === null ? languageIn(options.words, samples) : beginning === undefined ? listen(options.words, samples) : hypothesisAfter(options.words, runsOf(samples), { ...beginning, isDraft }, { first: FIRST_VALUE, length: samples.length })
      await delay()
      return options.transcribe?.(heard, job) ?? E.right(heard)
    },
    detectSpeech: (samples, state) => async () => {
      const frames = Array.from({ length: samples.length / VAD_FRAME }, (_, i) => samples.subarray(i * VAD_FRAME, (i + 1) * VAD_FRAME))
      const probabilities = Float32Array.from(frames, (frame) => (loudness(frame) >= 0.5 ? 0.95 : 0.05))
      await delay()
      const answer = options.detect?.(probabilities) ?? E.right(probabilities)
      return E.isLeft(answer) ? answer : E.right({ probabilities: answer.right, state: new Float32Array([(state?.[0] ?? 0) + frames.length]) })
    },
  }
}
