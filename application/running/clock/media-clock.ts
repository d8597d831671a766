import type { Continuity } from '../../ports/audio-source.ts'

/** Smaller time differences are not gaps, because timestamps are rounded and encoders are imprecise. */
export const TOLERANCE_SECONDS = 0.1
/** Longest repetition of a source. Servers resend buffered audio. A repetition is subtracted from the next gap. */
export const MAX_REPEATED_SECONDS = 10
/** Longest gap. A clock that jumps further was reset. */
export const MAX_GAP_SECONDS = 600
/** Longest sum of all gaps. */
export const MAX_LOST_SECONDS = 24 * 3600
/**
 * Minimum audio between two inserted gaps, because inserted silence does more harm than a little missing audio. A gap
 * that is due earlier waits.
 */
export const MIN_SECONDS_BETWEEN_GAPS = 1
/** By the media clock, a break may be at most this much longer than expected. */
const CLOCK_SLACK_SECONDS = 10
/** The timestamps of MPEG-TS (33 bits at 90 kHz) wrap around after this time. */
export const WRAP_SECONDS = 2 ** 33 / 90_000

/** The time state of a source's audio, in seconds. */
export interface MediaClock {
  /** End of the audio so far, by the timestamps of the media. Null without timestamps. */
  readonly end: number | null
  /** How the next stretch continues, and when it was announced. Null within a stretch. */
  readonly continuity: (Continuity & { readonly arrived: number }) | null
  /** The present stretch: arrival of its first and last audio, and its length. Null before any audio. */
  readonly arrivals: { readonly first: number; readonly last: number; readonly received: number } | null
  /** Seconds of audio since the last gap. */
  readonly sinceGap: number
  /** Sum of all gaps. */
  readonly lost: number
}

/** A piece of audio. All times are in seconds. */
export interface TimedAudio {
  readonly length: number
  /** Timestamp by the media's clock. Null: the piece follows the earlier audio. */
  readonly time: number | null
  /** Arrival by the monotonic clock of this process. */
  readonly arrived: number
}

export const INITIAL_CLOCK: MediaClock = {
  end: null, continuity: null, arrivals: null, sinceGap: MIN_SECONDS_BETWEEN_GAPS, lost: 0,
}

/** Begins a new stretch of audio, which continues the earlier audio as `Continuity` says. */
export const startStretch = (clock: MediaClock, { lost, newClock }: Continuity, arrived: number): MediaClock =>
  // An earlier stretch without any audio may have announced a new clock. The announcement still applies.
  ({ ...clock, continuity: { lost, newClock: newClock || clock.continuity?.newClock === true, arrived } })

const unwrapped = (difference: number): number => difference - WRAP_SECONDS * Math.round(difference / WRAP_SECONDS)

/**
 * Returns the seconds of audio that are missing according to the arrival times. A source that sent audio ahead of time
 * may pause for that time without a loss.
 */
const missingByArrival = ({ arrivals }: MediaClock, arrived: number): number =>
  arrivals === null ? 0 : Math.max(0, Math.min(arrived - arrivals.last, arrived - arrivals.first - arrivals.received))

/**
 * A step is the time from the end of the earlier audio to the next timestamp, by the clock of the media. Returns the
 * smallest and the largest plausible step. `expected`: length of the break by the source or the arrival times.
 */
const plausibleSteps = (continuity: Continuity | null, expected: number): readonly [least: number, most: number] => {
  if (continuity === null) return [-MAX_REPEATED_SECONDS, MAX_GAP_SECONDS]
  // A source that was interrupted does not repeat earlier audio.
  const least = expected > TOLERANCE_SECONDS ? -TOLERANCE_SECONDS : -MAX_REPEATED_SECONDS
  return [least, Math.min(MAX_GAP_SECONDS, expected + CLOCK_SLACK_SECONDS)]
}

/**
 * Returns the seconds that are missing between the audio so far and the next audio. `isNewTimeline`: true when the
 * timestamps start again.
 */
const gapBefore = (
  clock: MediaClock,
  audio: TimedAudio,
): { readonly gapDue: number; readonly isNewTimeline: boolean } => {
  const { end, continuity } = clock
  const missing = continuity?.lost ?? missingByArrival(clock, continuity?.arrived ?? audio.arrived)
  const expected = Math.min(MAX_GAP_SECONDS, missing)
  const other = { gapDue: expected, isNewTimeline: true }
  if (end === null || audio.time === null) return continuity === null ? { gapDue: 0, isNewTimeline: false } : other
  const step = unwrapped(audio.time - end)
  const [least, most] = plausibleSteps(continuity, expected)
  return continuity?.newClock !== true && step >= least && step <= most ? { gapDue: step, isNewTimeline: false } : other
}

/** Returns the end of the audio by the media's clock. `owed`: a gap to insert later. Null if the timeline continues. */
const endOf = ({ end }: MediaClock, { length, time }: TimedAudio, gap: number, owed: number | null): number | null => {
  if (owed === null && end !== null) return end + gap + length
  // The end stays behind by the gap that is inserted later, so the next timestamp shows this gap again.
  return time === null ? null : time + length - (owed ?? 0)
}

/**
 * Advances the clock by the next audio of a source and returns how much audio is missing before it. Plausible media
 * timestamps decide, or else the loss that the source reports, or else the arrival times. Audio is never skipped, and
 * small time differences are ignored.
 *
 * @returns `gap` in seconds, or 0 when no audio is missing
 */
export const advanceClock = (
  clock: MediaClock,
  audio: TimedAudio,
): { readonly clock: MediaClock; readonly gap: number } => {
  const first = { gapDue: 0, isNewTimeline: true }
  const { gapDue, isNewTimeline } = clock.arrivals === null ? first : gapBefore(clock, audio)
  const canInsert = gapDue > TOLERANCE_SECONDS && clock.sinceGap >= MIN_SECONDS_BETWEEN_GAPS
  const gap = canInsert ? Math.min(gapDue, MAX_LOST_SECONDS - clock.lost) : 0
  const isNewStretch = isNewTimeline || clock.continuity !== null || clock.arrivals === null
  const { arrived, length } = audio
  return {
    gap,
    clock: {
      end: endOf(clock, audio, gap, isNewTimeline ? gapDue - gap : null),
      continuity: null,
      arrivals: isNewStretch
        ? { first: clock.continuity?.arrived ?? arrived, last: arrived, received: length }
        : { ...clock.arrivals, last: arrived, received: clock.arrivals.received + gap + length },
      sinceGap: (gap > 0 ? 0 : clock.sinceGap) + length,
      lost: clock.lost + gap,
    },
  }
}
