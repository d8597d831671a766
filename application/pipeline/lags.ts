import type { Lags } from '../ports/pipeline.ts'

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
