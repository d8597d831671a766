import type { CaptionShape } from '../../../domain/transcript/captions.ts'
import type { EngineSettings } from '../../../domain/live/settings.ts'
import { SAMPLE_RATE } from '../../ports/engine.ts'
import { cadenceOf } from '../cadence.ts'

/** Where the audio of one pass begins, how long it may be, and what of it counts where it is cut. */
interface BufferLimits {
  /** The audio of one pass never grows longer. */
  readonly longest: number
  /** The same where the words heard before stay known: a little of what is before the open segment is heard with it. */
  readonly longestHeard: number
  /** Audio taken along before a region. */
  readonly preRoll: number
  /** Audio heard again after a cut in running speech, where word times are estimates. */
  readonly overlap: number
  /** End of a full buffer whose words are not relied upon. */
  readonly unsettled: number
}

/** A pause this long, behind at least this much audio, is where the buffer is cut. */
interface PauseLimits {
  readonly length: number
  readonly behind: number
}

/** What the settings of a live mean for the policy; positions and lengths in samples. */
export interface Limits {
  readonly vad: boolean
  readonly onlyFinals: boolean
  readonly punctuation: boolean
  readonly shape: CaptionShape
  /** Running speech after which a segment ends. */
  readonly longestSegment: number
  /** New audio that a pass waits for. */
  readonly interval: number
  /** The same while words are open of which no detector tells when they are over. */
  readonly probe: number
  readonly phraseSilence: number
  /** Age at which a word is committed without a second opinion. */
  readonly maxDelay: number
  readonly buffer: BufferLimits
  readonly pause: PauseLimits
}

/** Room that a model's window needs at its end. */
const WINDOW_MARGIN = 0.5
/** Seconds before a segment that are heard with it at most. */
const HEARD_BEFORE = 5
/** Part of max_delay that may pass between two passes, so that the pass itself fits in as well. */
const DELAY_SHARE = 0.8
/** A word that is shown only once it is final must be heard twice before. */
const FINAL_DELAY_SHARE = 0.4

const inSamples = (seconds: number): number => Math.round(seconds * SAMPLE_RATE)

/** @param pass seconds that a pass of the model takes on this machine */
export const limitsOf = (settings: EngineSettings, windowSeconds: number, pass = 0): Limits => {
  const maxBuffer = Math.max(0.5, Math.min(settings.max_buffer, windowSeconds - WINDOW_MARGIN))
  const onlyFinals = settings.mode === 'final'
  const wait = Math.min(settings.min_buffer, maxBuffer, settings.max_delay * (onlyFinals ? FINAL_DELAY_SHARE : DELAY_SHARE))
  // Without a detector only passes that hear nothing new tell that a phrase is over.
  const probe = settings.vad ? wait : Math.min(wait, Math.max(0.25, settings.buffer_timeout / 2))
  const paced = (seconds: number): number => inSamples(Math.min(maxBuffer, cadenceOf(seconds, pass)))
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
      longestHeard: inSamples(Math.min(maxBuffer + HEARD_BEFORE, windowSeconds - WINDOW_MARGIN)),
      preRoll: inSamples(0.15),
      overlap: inSamples(Math.min(1, maxBuffer / 4)),
      unsettled: inSamples(Math.min(1.5, maxBuffer / 4)),
    },
    pause: { length: inSamples(0.3), behind: inSamples(1) },
  }
}
