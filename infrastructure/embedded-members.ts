import type { Logger } from '../application/ports/environment.ts'
import type { Leases } from '../application/ports/leases.ts'
import type { Announced, Member, Members, Profile, Self } from '../application/ports/members.ts'
import type { Timers } from '../application/ports/timers.ts'
import { pause } from '../application/waiting.ts'
import { systemTimers } from './process/system-timers.ts'

/** Name of a process whose stores are all embedded. The lock on its data directory excludes other processes. */
export const EMBEDDED_NAME = 'local'

/** The state that a process announces before it has started anything. */
export const NOTHING_ANNOUNCED: Announced = {
  state: 'up', address: null, offers: null, logAnswers: true, lives: [], jobs: null,
}

/** The members of embedded stores: only this process, because the lock on the data directory excludes others. */
export const embeddedMembers = (self: Self, profile: Profile): Members => {
  let own: Member = { ...self, ...profile, ...NOTHING_ANNOUNCED }
  const listeners = new Set<() => void>()
  return {
    self,
    replaced: new Promise(() => undefined),
    ownershipProblem: () => Promise.resolve(null),
    all: () => [own],
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    onLost: () => () => undefined,
    announce: (change) => {
      own = { ...own, ...change }
      for (const listener of listeners) listener()
    },
    leave: () => Promise.resolve(),
  }
}

/** Pause before work that ended on its own starts again. */
const RESTART_PAUSE_MS = 1000

interface EmbeddedLeasesDeps {
  readonly timers?: Timers
  readonly logger?: Pick<Logger, 'error'>
}

/** The leases of embedded stores: this process holds every lease for as long as it wants it. */
export const embeddedLeases = (
  { name: holder }: Self,
  { timers = systemTimers, logger }: EmbeddedLeasesDeps = {},
): Leases => {
  const wanted = new Set<string>()
  const held = new Set<string>()
  return {
    isAlone: true,
    hold: (name, work) => {
      if (wanted.has(name)) throw new Error(`the lease ${name} is already requested`)
      const stopping = new AbortController()
      const { signal } = stopping
      const run = async (): Promise<void> => {
        while (!signal.aborted) {
          held.add(name)
          try {
            await work({ token: 0, signal })
          } catch (error) {
            logger?.error({ lease: name, error: String(error) }, 'work under a lease failed')
          }
          held.delete(name)
          await pause(timers, RESTART_PAUSE_MS, signal)
        }
      }
      wanted.add(name)
      const running = run()
      return {
        stop: async () => {
          stopping.abort()
          await running
          wanted.delete(name)
        },
      }
    },
    holders: () =>
      [...wanted].map((name) => {
        const isOwn = held.has(name)
        return { name, holder: isOwn ? holder : null, token: 0, isOwn }
      }),
  }
}
