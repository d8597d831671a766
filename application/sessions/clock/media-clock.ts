import type { Continuity } from '../../ports/audio-source.ts'

/** Seconds by which times may be off before that is a gap: they are rounded, and encoders are not exact. */
export const TOLERANCE = 0.1
/** Seconds that a source may repeat, as servers do with what they have buffered; taken off the next gap. */
export const MOST_REPEATED = 10
/** Seconds of one gap at most: a clock that jumps further was set anew. */
export const LONGEST_GAP = 600
/** Seconds of all gaps together at most. */
export const MOST_LOST = 24 * 3600
/** Seconds of audio between two gaps at least, for a gap costs more than a crumb of audio; what is due waits. */
export const BETWEEN_GAPS = 1
/** Seconds by which a clock may tell more of a break than was to be expected. */
const SLACK = 10
/** Seconds after which the times of MPEG-TS, 33 bits at 90 kHz, begin anew. */
export const WRAP = 2 ** 33 / 90_000

/** What is known of the time of a source's audio, in seconds. */
export interface MediaClock {
  /** When the audio so far ends, as the media tell; null: they do not. */
  readonly end: number | null
  /** How the next audio follows, and when the first of it arrived; null: it goes on. */
  readonly continuity: (Continuity & { readonly arrived: number }) | null
  /** Of the present stretch: when its first and its last audio arrived, and how much there was; null before any. */
  readonly arrivals: { readonly first: number; readonly last: number; readonly heard: number } | null
  /** Audio since the last gap. */
  readonly sinceGap: number
  /** All gaps. */
  readonly lost: number
}

/** Some audio, in seconds. */
export interface TimedAudio {
  readonly length: number
  /** When it is to be heard, by the media's clock; null: it follows what was before. */
  readonly time: number | null
  /** When it came, by a clock of ours that only grows. */
  readonly arrived: number
}

export const UNHEARD: MediaClock = { end: null, continuity: null, arrivals: null, sinceGap: BETWEEN_GAPS, lost: 0 }

/** A new stretch begins to arrive; its audio is heard once there is a decoder for it. */
export const continued = (clock: MediaClock, { lost, newClock }: Continuity, arrived: number): MediaClock =>
  // Of a stretch that was begun before and never heard what it said of the clock holds.
  ({ ...clock, continuity: { lost, newClock: newClock || clock.continuity?.newClock === true, arrived } })

const unwrapped = (difference: number): number => difference - WRAP * Math.round(difference / WRAP)

/** How long nothing was heard that ought to have been: a source that sent much at once has time before it is missed. */
const missed = ({ arrivals }: MediaClock, arrived: number): number =>
  arrivals === null ? 0 : Math.max(0, Math.min(arrived - arrivals.last, arrived - arrivals.first - arrivals.heard))

/** How far a media's clock may step to be believed; `expected`: what is known of a break otherwise. */
const believed = (continuity: Continuity | null, expected: number): readonly [least: number, most: number] => {
  if (continuity === null) return [-MOST_REPEATED, LONGEST_GAP]
  // Nobody who was missed repeats what was heard before.
  return [expected > TOLERANCE ? -TOLERANCE : -MOST_REPEATED, Math.min(LONGEST_GAP, expected + SLACK)]
}

/** What lies between the audio so far and this one; `isAnew`: its time has nothing to do with the times before. */
const between = (clock: MediaClock, audio: TimedAudio): { readonly due: number; readonly isAnew: boolean } => {
  const { end, continuity } = clock
  const expected = Math.min(LONGEST_GAP, continuity?.lost ?? missed(clock, continuity?.arrived ?? audio.arrived))
  const other = { due: expected, isAnew: true }
  if (end === null || audio.time === null) return continuity === null ? { due: 0, isAnew: false } : other
  const step = unwrapped(audio.time - end)
  const [least, most] = believed(continuity, expected)
  return continuity?.newClock !== true && step >= least && step <= most ? { due: step, isAnew: false } : other
}

/** When the audio ends by its media's clock, which begins anew where `owed` is told. */
const endOf = ({ end }: MediaClock, { length, time }: TimedAudio, gap: number, owed: number | null): number | null => {
  if (owed === null && end !== null) return end + gap + length
  // What is owed stays between the clock and the audio, and is found there again.
  return time === null ? null : time + length - (owed ?? 0)
}

/**
 * Takes in the next audio of a source and tells how much is missing before it: by the times of the media as far as they
 * can be believed, else by what the source itself says was lost, else by the time that passed here. Audio is never left
 * out, and times that are a little off change nothing.
 *
 * @returns `gap` in seconds, 0 for none
 */
export const hear = (clock: MediaClock, audio: TimedAudio): { readonly clock: MediaClock; readonly gap: number } => {
  const { due, isAnew } = clock.arrivals === null ? { due: 0, isAnew: true } : between(clock, audio)
  const mayBe = due > TOLERANCE && clock.sinceGap >= BETWEEN_GAPS
  const gap = mayBe ? Math.min(due, MOST_LOST - clock.lost) : 0
  const isNewStretch = isAnew || clock.continuity !== null || clock.arrivals === null
  const { arrived, length } = audio
  return {
    gap,
    clock: {
      end: endOf(clock, audio, gap, isAnew ? due - gap : null),
      continuity: null,
      arrivals: isNewStretch
        ? { first: clock.continuity?.arrived ?? arrived, last: arrived, heard: length }
        : { ...clock.arrivals, last: arrived, heard: clock.arrivals.heard + gap + length },
      sinceGap: (gap > 0 ? 0 : clock.sinceGap) + length,
      lost: clock.lost + gap,
    },
  }
}
