import { SAMPLE_RATE, VAD_FRAME } from '../../ports/engine.ts'

/** Speech, in samples from the first audio; the end is null while it goes on. */
export interface Region {
  readonly start: number
  readonly end: number | null
}

/** A moment in a region that was no speech, too short to end it: from the first quiet sample to the first of speech. */
export interface Dip {
  readonly start: number
  readonly end: number
}

/** Speech regions with less than `buffer_timeout` of silence between them. */
export interface Phrase {
  readonly regions: ReadonlyArray<Region>
  readonly dips: ReadonlyArray<Dip>
  /** Where the silence that ends the phrase had lasted long enough; null before. */
  readonly closedAt: number | null
}

export interface SegmenterState {
  /** Audio judged so far, in samples. */
  readonly clock: number
  /** First frame of what may become a region, and how many frames of it were clearly speech. */
  readonly onset: { readonly at: number; readonly frames: number } | null
  /** Where speech paused; null in speech. Before the first region: 0. */
  readonly quietSince: number | null
  /** The phrases that nobody has taken yet; only the last may be open. */
  readonly phrases: ReadonlyArray<Phrase>
}

export const INITIAL_SEGMENTER: SegmenterState = { clock: 0, onset: null, quietSince: 0, phrases: [] }

/** The parts of regions that lie between two moments, in samples. */
export const speechBetween = (regions: ReadonlyArray<Region>, from: number, to: number): ReadonlyArray<{ readonly start: number; readonly end: number }> =>
  regions.map(({ start, end }) => ({ start: Math.max(start, from), end: Math.min(end ?? Infinity, to) })).filter(({ start, end }) => end > start)

export const lengthOf = (parts: ReturnType<typeof speechBetween>): number => parts.reduce((sum, { start, end }) => sum + end - start, 0)

/** Silero's own thresholds: speech begins at the upper one, ends below the lower one, nothing changes between. */
const ENTER = 0.5
const LEAVE = 0.35
/** Clear frames that make a region: a single one is a click. */
const ONSET_FRAMES = 2
/** Silence that ends a region. */
const HANGOVER = Math.round(0.25 * SAMPLE_RATE)
/** Added around a region: the detector hears soft beginnings and endings late. */
export const PAD = Math.round(0.1 * SAMPLE_RATE)

const lastRegion = (state: SegmenterState): Region | undefined => state.phrases.at(-1)?.regions.at(-1)

const replaceLast = <A>(items: ReadonlyArray<A>, last: A): ReadonlyArray<A> => [...items.slice(0, -1), last]

const openRegion = (state: SegmenterState, at: number): ReadonlyArray<Phrase> => {
  const start = Math.max(at - PAD, lastRegion(state)?.end ?? 0, 0)
  const phrase = state.phrases.at(-1)
  if (phrase === undefined || phrase.closedAt !== null) return [...state.phrases, { regions: [{ start, end: null }], dips: [], closedAt: null }]
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
  const stale = state.onset !== null && at - state.onset.at > HANGOVER
  if (probability < LEAVE || stale) return { ...state, onset: null }
  if (probability < ENTER) return state
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
  if (probability >= ENTER) return { ...state, quietSince: null, phrases: endDip(state, at) }
  const quiet = state.quietSince ?? (probability < LEAVE ? at : null)
  if (quiet === null || state.clock - quiet < hangover) return { ...state, quietSince: quiet }
  return { ...state, quietSince: quiet, phrases: closeRegion(state, Math.min(quiet + PAD, state.clock)) }
}

/**
 * Folds the probabilities of consecutive frames into speech regions and phrases.
 *
 * @param phraseSilence samples of silence that end a phrase
 */
export const foldSpeech = (state: SegmenterState, probabilities: ArrayLike<number>, phraseSilence: number): SegmenterState => {
  let next = state
  const hangover = Math.min(HANGOVER, phraseSilence)
  for (let i = 0; i < probabilities.length; i += 1) {
    const at = next.clock
    const frame = { ...next, clock: at + VAD_FRAME }
    const speaking = lastRegion(frame)?.end === null
    next = speaking ? speechFrame(frame, probabilities[i] ?? 0, at, hangover) : silentFrame(frame, probabilities[i] ?? 0, at)
    const quiet = lastRegion(next)?.end === null ? null : next.quietSince
    if (quiet !== null && next.onset === null && next.clock - quiet >= phraseSilence) next = { ...next, phrases: closePhrase(next) }
  }
  return next
}

/** Where the next region can begin at the earliest; only while nobody speaks. */
export const earliestStart = (state: SegmenterState): number => (state.onset?.at ?? state.clock) - PAD

/** When the region that goes on, else the next one, can be known to have ended at the earliest. */
export const earliestEnd = (state: SegmenterState, phraseSilence: number): number => {
  const spoken = lastRegion(state)?.end === null ? (state.quietSince ?? state.clock) : (state.onset?.at ?? state.clock) + ONSET_FRAMES * VAD_FRAME
  return spoken + Math.min(HANGOVER, phraseSilence)
}

/** The audio is over: whatever is open ends at `end`, in samples. */
export const endOfAudio = (state: SegmenterState, end: number): SegmenterState => {
  const closed = { ...state, clock: end, quietSince: state.quietSince ?? end, phrases: closeRegion(state, end) }
  return { ...closed, phrases: closePhrase(closed) }
}

/** Without voice activity detection all audio is one region of one open phrase. */
export const hearEverything = (state: SegmenterState, clock: number): SegmenterState => ({
  ...state,
  clock,
  phrases: state.phrases.length === 0 ? [{ regions: [{ start: state.clock, end: null }], dips: [], closedAt: null }] : state.phrases,
})

/** Where somebody spoke before `sample`. */
export const regionsBefore = ({ phrases }: SegmenterState, sample: number): ReadonlyArray<Region> =>
  phrases.flatMap(({ regions }) => regions).filter(({ start }) => start < sample)

/** Where speech behind `sample` begins; where there is none, the audio judged so far ends. */
export const speechFrom = ({ phrases, clock }: SegmenterState, sample: number): number => {
  const next = phrases.flatMap(({ regions }) => regions).find(({ end }) => end === null || end > sample)
  return next === undefined ? clock : Math.min(clock, Math.max(sample, next.start))
}

/** The first phrase has been spoken out. */
export const dropPhrase = (state: SegmenterState): SegmenterState => ({ ...state, phrases: state.phrases.slice(1) })

/** Forgets the regions and dips of the first phrase that end at or before `sample`; its last region stays. */
export const forgetBefore = (state: SegmenterState, sample: number): SegmenterState => {
  const [first, ...others] = state.phrases
  if (first === undefined) return state
  const regions = first.regions.filter(({ end }, i) => end === null || end > sample || i === first.regions.length - 1)
  return { ...state, phrases: [{ ...first, regions, dips: first.dips.filter(({ end }) => end > sample) }, ...others] }
}
