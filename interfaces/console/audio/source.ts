/** Where audio comes from, opened and not yet begun. */
export interface AudioFeed {
  /** Hands on pieces of 16-bit samples at 16 kHz until it ends or is stopped. */
  readonly begin: (take: (samples: Int16Array<ArrayBuffer>) => void, ended: (why: 'over' | 'lost') => void) => void
  /** Ends it and gives its device back. */
  readonly stop: () => void
  /** Sends silence (a microphone), or plays nothing aloud (a recording). */
  readonly mute: (isMuted: boolean) => void
}

/** A recording is longer than the browser is to hold. */
export class TooLong extends Error {}
