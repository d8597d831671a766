export interface AudioFeed {
  /**
   * Passes on chunks of 16-bit samples at 16 kHz. `onEnd` reports the end of the recording (`over`) or the loss of the
   * device (`lost`).
   */
  readonly begin: (
    onSamples: (samples: Int16Array<ArrayBuffer>) => void,
    onEnd: (reason: 'over' | 'lost') => void,
  ) => void
  /** Stops the audio and releases the device. */
  readonly stop: () => void
  /** A muted microphone sends silence. A muted recording is sent, but not played aloud. */
  readonly mute: (isMuted: boolean) => void
}

/** The recording is longer than MAX_FILE_SECONDS. */
export class FileTooLong extends Error {}
