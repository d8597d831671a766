import type { Logger } from '../application/ports/environment.ts'
import type { Leases } from '../application/ports/peers/leases.ts'
import type { Announced, Member, Members, Profile, Self } from '../application/ports/peers/members.ts'
import type { Timers } from '../application/ports/timers.ts'
import { pause } from '../application/waiting.ts'
import { systemTimers } from './node/system-timers.ts'

/** The name of a process whose stores are all embedded: its data directory is taken for it, so it has no peers. */
export const EMBEDDED_NAME = 'local'

/** What a process says of itself before it has begun anything. */
export const NOTHING_ANNOUNCED: Announced = { state: 'up', address: null, offers: null, logAnswers: true, lives: [], jobs: null }

/** The members where nobody else can be one: the lock of the data directory keeps others out. */
export const alone = (self: Self, profile: Profile): Members => {
  let own: Member = { ...self, ...profile, ...NOTHING_ANNOUNCED }
  const hearers = new Set<() => void>()
  return {
    self,
    replaced: new Promise(() => undefined),
    whyNot: () => Promise.resolve(null),
    all: () => [own],
    onChange: (hear) => {
      hearers.add(hear)
      return () => void hearers.delete(hear)
    },
    onLost: () => () => undefined,
    announce: (change) => {
      own = { ...own, ...change }
      for (const hear of hearers) hear()
    },
    leave: () => Promise.resolve(),
  }
}

/** How long work that ended by itself rests. */
const PAUSE_MS = 1000

interface AloneDeps {
  readonly timers?: Timers
  readonly logger?: Pick<Logger, 'error'>
}

/** The leases where nobody else can hold one: each is held from the first moment to the last. */
export const aloneLeases = ({ name: holder }: Self, { timers = systemTimers, logger }: AloneDeps = {}): Leases => {
  const sought = new Set<string>()
  const holding = new Set<string>()
  return {
    isAlone: true,
    hold: (name, work) => {
      if (sought.has(name)) throw new Error(`the lease ${name} is sought already`)
      const stopping = new AbortController()
      const { signal } = stopping
      const run = async (): Promise<void> => {
        while (!signal.aborted) {
          holding.add(name)
          try {
            await work({ token: 0, signal })
          } catch (error) {
            logger?.error({ lease: name, error: String(error) }, 'the work under a lease broke')
          }
          holding.delete(name)
          await pause(timers, PAUSE_MS, signal)
        }
      }
      sought.add(name)
      const running = run()
      return {
        stop: async () => {
          stopping.abort()
          await running
          sought.delete(name)
        },
      }
    },
    holders: () => [...sought].map((name) => ({ name, holder: holding.has(name) ? holder : null, token: 0, isOwn: holding.has(name) })),
  }
}
