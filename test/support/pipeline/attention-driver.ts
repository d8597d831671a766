import { attentionPolicy } from '../../../application/pipeline/policy/by-attention/attention-policy.ts'
import { limitsOf } from '../../../application/pipeline/policy/policy-limits.ts'
import type { Outcome, Pass, Step } from '../../../application/pipeline/policy/policy.ts'
import type { SegmenterState } from '../../../application/pipeline/speech/speech-segmenter.ts'
import { SAMPLE_RATE, type TranscribedWord, type Hypothesis } from '../../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS, type EngineSettings } from '../../../domain/live/settings.ts'

export const samplesOf = (seconds: number): number => Math.round(seconds * SAMPLE_RATE)

/** A span of speech in seconds. Without an end the speech continues. */
type Span = readonly [start: number, end?: number]

/** The state of the speech detector after `clock` seconds with one phrase. */
export const speechState = (clock: number, spans: ReadonlyArray<Span>, isClosed = false): SegmenterState => {
  const regions = spans.map(([start, end]) => ({
    start: samplesOf(start),
    end: end === undefined ? null : samplesOf(end),
  }))
  const quietSince = regions.at(-1)?.end ?? null
  const now = samplesOf(clock)
  return { clock: now, onset: null, quietSince, phrases: [{ regions, dips: [], closedAt: isClosed ? now : null }] }
}

let tokens = 0
/** A word with times from the start of the session. Punctuation at its end is a separate token. */
export const wordOf = (text: string, start: number, end: number, probability = 0.9): TranscribedWord => {
  const hasEnd = /[\p{L}\p{N}][\p{P}]+$/u.test(text)
  tokens += 2
  const scores = { probability, confidence: probability, endProbability: hasEnd ? probability : 1 }
  return { text, tokens: hasEnd ? [tokens, tokens + 1] : [tokens], spoken: 1, start, end, ...scores }
}

export const tokensOf = (...words: ReadonlyArray<TranscribedWord>): ReadonlyArray<number> =>
  words.flatMap((word) => word.tokens)

export interface TranscribedPass {
  readonly pass: Pass
  readonly outcome: Outcome
}

/**
 * Creates an attention policy, and functions that drive it. The policy decides when the model runs (a pass). A draft is
 * a quick pass during speech. A draft fixes words: the next draft begins after them. Other words are open. A full pass
 * transcribes all words again that are not final.
 */
export const createAttentionDriver = (settings: Partial<EngineSettings> = {}, windowSeconds = 30) => {
  const limits = limitsOf({ ...DEFAULT_ENGINE_SETTINGS, ...settings }, windowSeconds)
  const policy = attentionPolicy(1)
  const next = (state: SegmenterState): Step => policy.next(state, limits)
  return {
    limits,
    policy,
    next,
    /** Takes the next step, which must be a pass, and answers it with these words. */
    transcribe: (
      state: SegmenterState,
      words: ReadonlyArray<TranscribedWord>,
      scores: Partial<Hypothesis> = {},
    ): TranscribedPass => {
      const step = next(state)
      if (step.kind !== 'pass') throw new Error(`expected a pass, got ${JSON.stringify(step)}`)
      const { pass } = step
      const offset = pass.from / SAMPLE_RATE
      const local = words.map((word) => ({ ...word, start: word.start - offset, end: word.end - offset }))
      const text = words.map((word) => word.text).join('')
      const segments = text === '' ? [] : [{ start: 0, end: 1, text }]
      const defaults = { isLoop: false, avgLogprob: -0.2, noSpeechProb: 0, compressionRatio: 1.2 }
      const hypothesis = { segments, words: local, ...defaults, ...scores }
      const regions = state.phrases.flatMap((phrase) => phrase.regions)
      return { pass, outcome: policy.applyPass(regions, pass, hypothesis, limits) }
    },
    /** Takes the next step, which must emit text without a pass. */
    emit: (state: SegmenterState): Outcome => {
      const step = next(state)
      if (step.kind !== 'emit') throw new Error(`expected text, got ${JSON.stringify(step)}`)
      return step.outcome
    },
  }
}

/** The texts of the finals. */
export const finalTextsOf = ({ finals }: Outcome): ReadonlyArray<string> => finals.map(({ text }) => text)
