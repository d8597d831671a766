import { attentionPolicy } from '../../../application/pipeline/policy/by-attention/attention-policy.ts'
import { limitsOf } from '../../../application/pipeline/policy/policy-limits.ts'
import type { Outcome, Pass, Step } from '../../../application/pipeline/policy/policy.ts'
import type { SegmenterState } from '../../../application/pipeline/speech/speech-segmenter.ts'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { TranscribedWord, Hypothesis } from '../../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import type { EngineSettings } from '../../../domain/live/settings.ts'

export const samplesOf = (seconds: number): number => Math.round(seconds * SAMPLE_RATE)

/** A span of speech in seconds; without an end it goes on. */
type Span = readonly [start: number, end?: number]

/** One phrase, as the detector tells of it after `clock` seconds. */
export const speechState = (clock: number, spans: ReadonlyArray<Span>, isClosed = false): SegmenterState => {
  const regions = spans.map(([start, end]) => ({ start: samplesOf(start), end: end === undefined ? null : samplesOf(end) }))
  const quietSince = regions.at(-1)?.end ?? null
  return { clock: samplesOf(clock), onset: null, quietSince, phrases: [{ regions, dips: [], closedAt: isClosed ? samplesOf(clock) : null }] }
}

let tokens = 0
/** A word with times from the first audio on; what punctuation it ends with is a token of its own. */
export const heardWord = (text: string, start: number, end: number, probability = 0.9): TranscribedWord => {
  const hasEnd = /[\p{L}\p{N}][\p{P}]+$/u.test(text)
  tokens += 2
  return { text, tokens: hasEnd ? [tokens, tokens + 1] : [tokens], spoken: 1, start, end, probability, confidence: probability, endProbability: hasEnd ? probability : 1 }
}

export const tokensOf = (...words: ReadonlyArray<TranscribedWord>): ReadonlyArray<number> => words.flatMap((each) => each.tokens)

export interface Heard {
  readonly pass: Pass
  readonly outcome: Outcome
}

/** A policy and the settings that it is asked with. */
export const createAttentionDriver = (settings: Partial<EngineSettings> = {}, windowSeconds = 30) => {
  const limits = limitsOf({ ...DEFAULT_ENGINE_SETTINGS, ...settings }, windowSeconds)
  const policy = attentionPolicy(1)
  const next = (state: SegmenterState): Step => policy.next(state, limits)
  return {
    limits,
    policy,
    next,
    /** What must be a pass, and hears these words. */
    hears: (state: SegmenterState, words: ReadonlyArray<TranscribedWord>, scores: Partial<Hypothesis> = {}): Heard => {
      const step = next(state)
      if (step.kind !== 'pass') throw new Error(`not a pass but ${JSON.stringify(step)}`)
      const { pass } = step
      const offset = pass.from / SAMPLE_RATE
      const local = words.map((each) => ({ ...each, start: each.start - offset, end: each.end - offset }))
      const text = words.map((each) => each.text).join('')
      const segments = text === '' ? [] : [{ start: 0, end: 1, text }]
      const hypothesis = { segments, words: local, isLoop: false, avgLogprob: -0.2, noSpeechProb: 0, compressionRatio: 1.2, ...scores }
      const regions = state.phrases.flatMap((phrase) => phrase.regions)
      return { pass, outcome: policy.applyPass(regions, pass, hypothesis, limits) }
    },
    /** What must be said, without hearing more. */
    says: (state: SegmenterState): Outcome => {
      const step = next(state)
      if (step.kind !== 'emit') throw new Error(`nothing said but ${JSON.stringify(step)}`)
      return step.outcome
    },
  }
}

export const finalTextsOf = ({ finals }: Outcome): ReadonlyArray<string> => finals.map(({ text }) => text)
