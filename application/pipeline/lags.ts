/**
 * The lags of the sessions of this process, in seconds. Audio with possible speech waits until a pass has processed it.
 * The lag of a session is the age of its oldest waiting audio, or 0 when no audio waits.
 */
export interface Lags {
  /** Adds a session. `seconds` returns its lag. The returned function removes the session. */
  readonly follow: (liveId: number, seconds: () => number) => () => void
  /** Records a finished pass. `seconds`: the age of its oldest new audio. */
  readonly recordPass: (seconds: number) => void
  readonly current: () => ReadonlyArray<number>
  /** Returns the lag of one session, or null when the session does not run here. */
  readonly of: (liveId: number) => number | null
  /** Calls `observe` for every later pass. */
  readonly onPass: (observe: (seconds: number) => void) => void
}

export const createLags = (): Lags => {
  const followed = new Set<{ readonly liveId: number; readonly seconds: () => number }>()
  const observers: Array<(seconds: number) => void> = []
  return {
    follow: (liveId, seconds) => {
      const live = { liveId, seconds }
      followed.add(live)
      return () => void followed.delete(live)
    },
    recordPass: (seconds) => {
      for (const observe of observers) observe(seconds)
    },
    current: () => Array.from(followed, ({ seconds }) => seconds()),
    of: (liveId) => [...followed].find((live) => live.liveId === liveId)?.seconds() ?? null,
    onPass: (observe) => void observers.push(observe),
  }
}
