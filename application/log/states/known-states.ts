import type { Revision, StoredEvent } from '../../ports/event-store.ts'
import type { KeyedMemory } from '../../ports/keyring.ts'

/** An event in clear text and in stored form. */
export interface Recorded<Event> {
  readonly event: Event
  readonly stored: StoredEvent
}

/** The state of a stream up to its event `revision`. */
export interface Known<State, Event> {
  readonly state: State
  /** Null when the stream has no events. */
  readonly revision: Revision | null
  /** The newest events, oldest first. They show whether a repeated command was already handled. */
  readonly recent: ReadonlyArray<Recorded<Event>>
  /** The events that no snapshot includes, as their number and rough size. */
  readonly unsaved: { readonly events: number; readonly size: number }
  /** False when a personal member of these events reads `[erased]`. */
  readonly isWhole: boolean
}

/**
 * Keeps the states of the most recently used streams, so that a read or a command reads only the newer events. A state
 * may be old, but is never wrong: revisions are never given out again.
 */
export interface KnownStates {
  readonly get: <State, Event>(stream: string) => Known<State, Event> | undefined
  /** `key`: name of the key of the personal data in the state, null without any. */
  readonly keep: <State, Event>(stream: string, known: Known<State, Event>, key: string | null) => void
  readonly forget: (stream: string) => void
  /** Forgets the states with personal data of erased keys, which other processes may have erased. */
  readonly ofKeys: KeyedMemory
}

interface Limits {
  readonly streams: number
  /** In the unit of `roughSize`. */
  readonly size: number
}

/** About 20,000 open sessions with short vocabularies, or 500 users with many large profiles. */
const LIMITS: Limits = { streams: 20_000, size: 64 * 1024 * 1024 }

/** Returns about how many bytes of memory or of JSON a value needs. It is fast, not exact. */
export const roughSize = (value: unknown): number => {
  if (typeof value === 'string') return value.length + 16
  if (typeof value !== 'object' || value === null) return 8
  let size = 16
  for (const member of Object.values(value)) size += 8 + roughSize(member)
  return size
}

export const createKnownStates = (limits: Limits = LIMITS): KnownStates => {
  const entries = new Map<string, { readonly known: unknown; readonly size: number; readonly key: string | null }>()
  let total = 0
  const forget = (stream: string): void => {
    total -= entries.get(stream)?.size ?? 0
    entries.delete(stream)
  }
  const forgetIf = (isForgotten: (key: string) => boolean): void => {
    for (const [stream, { key }] of entries) if (key !== null && isForgotten(key)) forget(stream)
  }
  return {
    // Safe: all events of a stream, and so its states, belong to one decider.
    get: <State, Event>(stream: string) => entries.get(stream)?.known as Known<State, Event> | undefined,
    keep: (stream, known, key) => {
      forget(stream)
      const size = roughSize(known.state) + roughSize(known.recent.map(({ event, stored }) => [event, stored.data]))
      entries.set(stream, { known, size, key })
      total += size
      for (const leastRecent of entries.keys()) {
        if (entries.size <= limits.streams && total <= limits.size) break
        forget(leastRecent)
      }
    },
    forget,
    ofKeys: {
      forget: (keys) => {
        const erased = new Set(keys)
        forgetIf((key) => erased.has(key))
      },
      keepOnly: (keys) => {
        const kept = new Set(keys)
        forgetIf((key) => !kept.has(key))
      },
    },
  }
}
