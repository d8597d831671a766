import { SAMPLE_RATE, VAD_FRAME } from '../../ports/engine.ts'

/** A region of speech, in samples from the first audio. `end` is null while the speech continues. */
export interface Region {
  readonly start: number
  readonly end: number | null
}

/** A quiet moment within a region that is too short to end the region. `end`: where the speech continues. */
export interface Dip {
  readonly start: number
  readonly end: number
}

/** Speech regions with less than `buffer_timeout` of silence between them. */
export interface Phrase {
  readonly regions: ReadonlyArray<Region>
  readonly dips: ReadonlyArray<Dip>
  /** The sample at which the silence was long enough to end the phrase. Null while the phrase is open. */
  readonly closedAt: number | null
}

export interface SegmenterState {
  /** Samples that the detector has processed. */
  readonly clock: number
  /** Start of a possible region, and its number of clear speech frames. Null when no region is beginning. */
  readonly onset: { readonly at: number; readonly frames: number } | null
  /** Start of the present pause. Null during speech. 0 before the first region. */
  readonly quietSince: number | null
  /** Phrases that are not finalised yet. Only the last phrase may be open. */
  readonly phrases: ReadonlyArray<Phrase>
}

export const INITIAL_SEGMENTER: SegmenterState = { clock: 0, onset: null, quietSince: 0, phrases: [] }

/** Returns the parts of regions between two samples. */
export const speechBetween = (
  regions: ReadonlyArray<Region>,
  from: number,
  to: number,
): ReadonlyArray<{ readonly start: number; readonly end: number }> =>
  regions
    .map(({ start, end }) => ({ start: Math.max(start, from), end: Math.min(end ?? Infinity, to) }))
    .filter(({ start, end }) => end > start)

export const lengthOf = (parts: ReturnType<typeof speechBetween>): number =>
  parts.reduce((sum, { start, end }) => sum + end - start, 0)

/** Speech begins at this probability. Both thresholds are those of Silero, the voice activity detector. */
const ENTER_PROBABILITY = 0.5
/** Speech ends below this probability. */
const LEAVE_PROBABILITY = 0.35
/** Number of clear speech frames that begin a region. A single frame is often a click. */
const ONSET_FRAMES = 2
/** Length of the silence that ends a region. */
const HANGOVER_SAMPLES = Math.round(0.25 * SAMPLE_RATE)
/** Padding around a region, because the detector misses soft beginnings and endings. */
export const PAD_SAMPLES = Math.round(0.1 * SAMPLE_RATE)

const lastRegion = (state: SegmenterState): Region | undefined => state.phrases.at(-1)?.regions.at(-1)

const replaceLast = <A>(items: ReadonlyArray<A>, last: A): ReadonlyArray<A> => [...items.slice(0, -1), last]

const openRegion = (state: SegmenterState, at: number): ReadonlyArray<Phrase> => {
  const start = Math.max(at - PAD_SAMPLES, lastRegion(state)?.end ?? 0, 0)
  const phrase = state.phrases.at(-1)
  if (phrase === undefined || phrase.closedAt !== null)
    return [...state.phrases, { regions: [{ start, end: null }], dips: [], closedAt: null }]
  return replaceLast(state.phrases, { ...phrase, regions: [...phrase.regions, { start, end: null }] })
}

const closeRegion = (state: SegmenterState, end: number): ReadonlyArray<Phrase> => {
  const phrase = state.phrases.at(-1)
  const region = phrase?.regions.at(-1)
  if (phrase === undefined || region === undefined || region.end !== null) return state.phrases
  return replaceLast(state.phrases, { ...phrase, regions: replaceLast(phrase.regions, { start: region.start, end }) })
}

const closePhrase = (state: SegmenterState): ReadonlyArray<Phrase> => {
  const phrase = state.phrases.at(-1)
  if (phrase === undefined || phrase.closedAt !== null) return state.phrases
  return replaceLast(state.phrases, { ...phrase, closedAt: state.clock })
}

const silentFrame = (state: SegmenterState, probability: number, at: number): SegmenterState => {
  const stale = state.onset !== null && at - state.onset.at > HANGOVER_SAMPLES
  if (probability < LEAVE_PROBABILITY || stale) return { ...state, onset: null }
  if (probability < ENTER_PROBABILITY) return state
  const onset = { at: state.onset?.at ?? at, frames: (state.onset?.frames ?? 0) + 1 }
  if (onset.frames < ONSET_FRAMES) return { ...state, onset }
  return { ...state, onset: null, quietSince: null, phrases: openRegion(state, onset.at) }
}

const endDip = (state: SegmenterState, end: number): ReadonlyArray<Phrase> => {
  const phrase = state.phrases.at(-1)
  if (phrase === undefined || state.quietSince === null) return state.phrases
  return replaceLast(state.phrases, { ...phrase, dips: [...phrase.dips, { start: state.quietSince, end }] })
}

const speechFrame = (state: SegmenterState, probability: number, at: number, hangover: number): SegmenterState => {
  if (probability >= ENTER_PROBABILITY) return { ...state, quietSince: null, phrases: endDip(state, at) }
  const quiet = state.quietSince ?? (probability < LEAVE_PROBABILITY ? at : null)
  if (quiet === null || state.clock - quiet < hangover) return { ...state, quietSince: quiet }
  return { ...state, quietSince: quiet, phrases: closeRegion(state, Math.min(quiet + PAD_SAMPLES, state.clock)) }
}

/**
 * Folds the speech probabilities of consecutive frames into regions and phrases.
 *
 * @param phraseSilence samples of silence that end a phrase
 */
export const foldSpeech = (
  state: SegmenterState,
  probabilities: ArrayLike<number>,
  phraseSilence: number,
): SegmenterState => {
  let next = state
  const hangover = Math.min(HANGOVER_SAMPLES, phraseSilence)
  for (let i = 0; i < probabilities.length; i += 1) {
    const at = next.clock
    const frame = { ...next, clock: at + VAD_FRAME }
    const [isSpeaking, probability] = [lastRegion(frame)?.end === null, probabilities[i] ?? 0]
    next = isSpeaking ? speechFrame(frame, probability, at, hangover) : silentFrame(frame, probability, at)
    const quiet = lastRegion(next)?.end === null ? null : next.quietSince
    if (quiet !== null && next.onset === null && next.clock - quiet >= phraseSilence)
      next = { ...next, phrases: closePhrase(next) }
  }
  return next
}

/** Returns the earliest possible start of the next region. Call it only during silence. */
export const earliestStart = (state: SegmenterState): number => (state.onset?.at ?? state.clock) - PAD_SAMPLES

/** Returns the earliest sample at which the end of the present or next region can be detected. */
export const earliestEnd = (state: SegmenterState, phraseSilence: number): number => {
  const nextEnd = (state.onset?.at ?? state.clock) + ONSET_FRAMES * VAD_FRAME
  const speechEnd = lastRegion(state)?.end === null ? (state.quietSince ?? state.clock) : nextEnd
  return speechEnd + Math.min(HANGOVER_SAMPLES, phraseSilence)
}

/** Ends the open region and phrase at sample `end`, the end of the audio. */
export const endOfAudio = (state: SegmenterState, end: number): SegmenterState => {
  const closed = { ...state, clock: end, quietSince: state.quietSince ?? end, phrases: closeRegion(state, end) }
  return { ...closed, phrases: closePhrase(closed) }
}

/** Marks all audio as one region of one open phrase, for sessions without voice activity detection. */
export const markAllSpeech = (state: SegmenterState, clock: number): SegmenterState => ({
  ...state,
  clock,
  phrases: state.phrases.length === 0
    ? [{ regions: [{ start: state.clock, end: null }], dips: [], closedAt: null }]
    : state.phrases,
})

/** Returns the regions of all phrases that start before `sample`. */
export const regionsBefore = ({ phrases }: SegmenterState, sample: number): ReadonlyArray<Region> =>
  phrases.flatMap(({ regions }) => regions).filter(({ start }) => start < sample)

/** Returns the start of the first speech after `sample`, or the end of the processed audio when no speech follows. */
export const speechFrom = ({ phrases, clock }: SegmenterState, sample: number): number => {
  const next = phrases.flatMap(({ regions }) => regions).find(({ end }) => end === null || end > sample)
  return next === undefined ? clock : Math.min(clock, Math.max(sample, next.start))
}

/** Removes the first phrase, which is finalised. */
export const dropPhrase = (state: SegmenterState): SegmenterState => ({ ...state, phrases: state.phrases.slice(1) })

/** Removes the regions and dips of the first phrase that end at or before `sample`, except its last region. */
export const forgetBefore = (state: SegmenterState, sample: number): SegmenterState => {
  const [first, ...others] = state.phrases
  if (first === undefined) return state
  const regions = first.regions.filter(({ end }, i) => end === null || end > sample || i === first.regions.length - 1)
  return { ...state, phrases: [{ ...first, regions, dips: first.dips.filter(({ end }) => end > sample) }, ...others] }
}
