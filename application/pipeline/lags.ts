import type { Lags, LiveLag } from '../ports/pipeline.ts'

export const createLags = (): Lags => {
  const followed = new Set<() => LiveLag>()
  const observers: Array<(seconds: number) => void> = []
  return {
    follow: (liveId, seconds) => {
      const read = (): LiveLag => ({ liveId, seconds: seconds() })
      followed.add(read)
      return () => void followed.delete(read)
    },
    heard: (seconds) => {
      for (const observe of observers) observe(seconds)
    },
    current: () => [...followed].map((read) => read()),
    onHeard: (observe) => void observers.push(observe),
  }
}
