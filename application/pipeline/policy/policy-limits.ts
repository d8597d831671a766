import type { CaptionShape } from '../../../domain/transcript/captions.ts'
import type { EngineSettings } from '../../../domain/live/settings.ts'
import { SAMPLE_RATE } from '../../ports/engine.ts'
import { draftInterval } from '../cadence.ts'

/** Limits of the audio buffer of a pass. Lengths are in samples. */
interface BufferLimits {
  /** Longest audio of a pass. */
  readonly longest: number
  /** Longest audio of a pass that also contains some audio before the open segment, whose words are known. */
  readonly longestWithContext: number
  /** Audio that is added before a speech region. */
  readonly preRoll: number
  /** Audio that is transcribed again after a cut in running speech, because word times are estimates. */
  readonly overlap: number
  /** Length of the last part of a full buffer, whose words are not reliable. */
  readonly unsettled: number
}

/** The buffer is cut at a pause of this length, after at least `minBefore` of audio. */
interface PauseLimits {
  readonly length: number
  readonly minBefore: number
}

/** The settings of a session as limits of the policy. Lengths are in samples. */
export interface Limits {
  readonly vad: boolean
  readonly onlyFinals: boolean
  readonly punctuation: boolean
  readonly shape: CaptionShape
  /** Longest segment of running speech. */
  readonly longestSegment: number
  /** New audio before the next pass. */
  readonly interval: number
  /**
   * New audio before the next pass while words are open. It is shorter without a detector, because then only passes
   * show that the speech has ended.
   */
  readonly probe: number
  readonly phraseSilence: number
  /** Age at which a word is committed without confirmation by a second pass. */
  readonly maxDelay: number
  readonly buffer: BufferLimits
  readonly pause: PauseLimits
}

/** Time at the end of a model's window that stays free. */
const WINDOW_MARGIN_SECONDS = 0.5
/** Maximum audio before the open segment that a pass contains. */
const CONTEXT_SECONDS = 5
/** Share of max_delay between two passes. The rest is for the pass itself. */
const DELAY_SHARE = 0.8
/** The same share in mode `final`. It is smaller, because two passes must confirm a word within max_delay. */
const FINAL_DELAY_SHARE = 0.4

const inSamples = (seconds: number): number => Math.round(seconds * SAMPLE_RATE)

/**
 * Returns the limits for settings and a model.
 *
 * @param pass duration of a pass of the model on this machine, in seconds
 */
export const limitsOf = (settings: EngineSettings, windowSeconds: number, pass = 0): Limits => {
  const maxBuffer = Math.max(0.5, Math.min(settings.max_buffer, windowSeconds - WINDOW_MARGIN_SECONDS))
  const onlyFinals = settings.mode === 'final'
  const delayShare = onlyFinals ? FINAL_DELAY_SHARE : DELAY_SHARE
  const wait = Math.min(settings.min_buffer, maxBuffer, settings.max_delay * delayShare)
  // Without a detector, only passes without new words show the end of a phrase.
  const probe = settings.vad ? wait : Math.min(wait, Math.max(0.25, settings.buffer_timeout / 2))
  const paced = (seconds: number): number => inSamples(Math.min(maxBuffer, draftInterval(seconds, pass)))
  return {
    vad: settings.vad,
    onlyFinals,
    punctuation: settings.punctuation,
    shape: { maxChars: settings.max_chars, maxLines: settings.max_lines },
    longestSegment: inSamples(maxBuffer),
    interval: paced(wait),
    probe: paced(probe),
    phraseSilence: inSamples(settings.buffer_timeout),
    maxDelay: inSamples(settings.max_delay),
    buffer: {
      longest: inSamples(maxBuffer),
      longestWithContext: inSamples(Math.min(maxBuffer + CONTEXT_SECONDS, windowSeconds - WINDOW_MARGIN_SECONDS)),
      preRoll: inSamples(0.15),
      overlap: inSamples(Math.min(1, maxBuffer / 4)),
      unsettled: inSamples(Math.min(1.5, maxBuffer / 4)),
    },
    pause: { length: inSamples(0.3), minBefore: inSamples(1) },
  }
}
