import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Hypothesis, JobFailed, SpeechEngine, TranscribeJob } from '../../../../application/ports/engine.ts'
import { FIRST_VALUE, runsOf, SAMPLE_RATE, samplesOf, type ScriptedWord } from './script.ts'
import { hypothesisAfter } from './word-times.ts'

const VAD_FRAME_SAMPLES = 512

/** Returns the words that are completely in the audio, in one segment, as a model without word times does. */
const wholeWords = (words: ReadonlyArray<ScriptedWord>, samples: Int16Array): Hypothesis => {
  const wordOf = (value: number): ScriptedWord | undefined => words[value - FIRST_VALUE]
  const found = runsOf(samples).filter(({ value, from, to }) => to - from === samplesOf(wordOf(value)?.seconds ?? 0))
  const [first, last] = [found[0], found.at(-1)]
  const text = found.map(({ value }) => wordOf(value)?.text ?? '').join(' ')
  const span = first === undefined || last === undefined ? null : { start: first.from, end: last.to }
  const segments = span === null ? [] : [{ start: span.start / SAMPLE_RATE, end: span.end / SAMPLE_RATE, text }]
  return { segments, avgLogprob: -0.2, noSpeechProb: 0, compressionRatio: 1.2 }
}

/** Returns the language of most of the speech. Its probability is its share of the speech. */
const languageIn = (words: ReadonlyArray<ScriptedWord>, samples: Int16Array): Hypothesis => {
  const runs = Map.groupBy(runsOf(samples), ({ value }) => words[value - FIRST_VALUE]?.language ?? 'en')
  const lengths = [...runs].map(([code, spoken]) => ({
    code,
    length: spoken.reduce((sum, { from, to }) => sum + to - from, 0),
  }))
  const total = lengths.reduce((sum, { length }) => sum + length, 0)
  const [most] = lengths.toSorted((a, b) => b.length - a.length)
  const language =
    most === undefined ? { code: 'en', probability: 0.2 } : { code: most.code, probability: most.length / total }
  return { segments: [], avgLogprob: 0, noSpeechProb: 0, compressionRatio: 0, language }
}

/** Returns the share of samples that are not silence, from 0 to 1. */
const speechShare = (frame: Int16Array): number => frame.filter((sample) => sample !== 0).length / frame.length

export interface ScriptedEngine extends SpeechEngine {
  readonly jobs: ReadonlyArray<TranscribeJob>
}

export interface ScriptedEngineOptions {
  readonly words: ReadonlyArray<ScriptedWord>
  readonly windowSeconds?: number
  /** True: returns word times, and continues after the words in the `beginning` of a job. */
  readonly hasWordTimes?: boolean
  readonly parallelism?: number
  /** Seconds of a pass that `passTime` returns. Default: unknown. */
  readonly passSeconds?: number
  /** Awaited before every answer. */
  readonly delay?: () => Promise<void>
  /** Changes a transcription or fails it. */
  readonly transcribe?: (hypothesis: Hypothesis, job: TranscribeJob) => Either<JobFailed, Hypothesis>
  /** Changes a speech detection or fails it. */
  readonly detect?: (probabilities: Float32Array) => Either<JobFailed, Float32Array>
  /** Keeps `jobs` empty. Each job contains its samples, which is too much for hours of audio. */
  readonly isForgetful?: boolean
}

/** An engine that transcribes the audio of a script without errors. */
export const scriptedEngine = (options: ScriptedEngineOptions): ScriptedEngine => {
  const { words, windowSeconds = 30, hasWordTimes = false, parallelism = 1, passSeconds, isForgetful = false } = options
  const { delay = () => Promise.resolve() } = options
  const jobs: Array<TranscribeJob> = []

  const hypothesisOf = ({ beginning, samples, language, isDraft = false }: TranscribeJob): Hypothesis => {
    if (language === null) return languageIn(words, samples)
    if (beginning === undefined) return wholeWords(words, samples)
    return hypothesisAfter(words, samples, { ...beginning, isDraft })
  }

  return {
    jobs,
    deviceOf: () => ({ name: 'cpu', lanes: parallelism }),
    passTime: () => (passSeconds === undefined ? null : { usual: passSeconds, least: passSeconds }),
    pid: () => undefined,
    close: () => Promise.resolve(),
    load: () => Promise.resolve(E.right({ windowSeconds, hasWordTimes })),
    transcribe: async (job) => {
      if (!isForgetful) jobs.push(job)
      const hypothesis = hypothesisOf(job)
      await delay()
      return options.transcribe?.(hypothesis, job) ?? E.right(hypothesis)
    },
    detectSpeech: async (samples, state) => {
      const frames = Array.from({ length: samples.length / VAD_FRAME_SAMPLES }, (_, i) =>
        samples.subarray(i * VAD_FRAME_SAMPLES, (i + 1) * VAD_FRAME_SAMPLES))
      const probabilities = Float32Array.from(frames, (frame) => (speechShare(frame) >= 0.5 ? 0.95 : 0.05))
      await delay()
      const answer = options.detect?.(probabilities) ?? E.right(probabilities)
      if (E.isLeft(answer)) return answer
      return E.right({ probabilities: answer.right, state: new Float32Array([(state?.[0] ?? 0) + frames.length]) })
    },
  }
}
