import type { Leases } from '../application/ports/leases.ts'
import type { Announced, Member, Members, Profile, Self } from '../application/ports/members.ts'

/** The name of a process whose stores are all embedded: its data directory is taken for it, so it has no peers. */
export const EMBEDDED_NAME = 'local'

/** What a process says of itself before it has begun anything. */
export const NOTHING_ANNOUNCED: Announced = { state: 'up', address: null, offers: null, logAnswers: true, lives: [] }

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

/** The leases where nobody else can hold one: each is held from the first moment to the last. */
export const aloneLeases = ({ name: holder }: Self): Leases => {
  const held = new Set<string>()
  return {
    isAlone: true,
    hold: (name, work) => {
      const stopping = new AbortController()
      held.add(name)
      const working = work({ token: 0, signal: stopping.signal }).finally(() => held.delete(name))
      return {
        stop: async () => {
          stopping.abort()
          await working
        },
      }
    },
    holders: () => [...held].map((name) => ({ name, holder, token: 0, isOwn: true })),
  }
}
