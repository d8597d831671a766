/**
 * How far the texts of the lives that run in this process are behind their audio: the age of the oldest audio in which speech
 * may be that no pass has heard, in seconds of wall time; 0 where there is none.
 */
export interface Lags {
  /** Of a live that begins; what it answers is called at its end. */
  readonly follow: (liveId: number, seconds: () => number) => () => void
  /** A pass is done: so old had the oldest audio become that it was the first to hear. */
  readonly heard: (seconds: number) => void
  readonly current: () => ReadonlyArray<number>
  /** Of one live; null where it does not run here. */
  readonly of: (liveId: number) => number | null
  /** Tells every later `heard`. */
  readonly onHeard: (observe: (seconds: number) => void) => void
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
    heard: (seconds) => {
      for (const observe of observers) observe(seconds)
    },
    current: () => Array.from(followed, ({ seconds }) => seconds()),
    of: (liveId) => [...followed].find((live) => live.liveId === liveId)?.seconds() ?? null,
    onHeard: (observe) => void observers.push(observe),
  }
}
