import { setTimeout as delay } from 'node:timers/promises'
import { MongoClient } from 'mongodb'

/** Much less than the time between two heartbeats. */
const POLL_MS = 100

interface MemberDocument {
  readonly _id: string
  readonly incarnation: string
  readonly beat: number
  readonly seenAt?: Date
}

/** The observed heartbeats of the members. */
export interface Heartbeats {
  /** Milliseconds between consecutive heartbeats, by the clock of MongoDB. */
  readonly gaps: ReadonlyArray<number>
  /** The present incarnation (run of the process) of the member with this name. */
  readonly incarnationOf: (name: string) => string
  readonly stop: () => Promise<void>
}

/** Observes the members of a service until `stop`. */
export const watchHeartbeats = async (url: string): Promise<Heartbeats> => {
  const client = await new MongoClient(url).connect()
  const members = client.db().collection<MemberDocument>('members')
  const stopped = new AbortController()
  const gaps: Array<number> = []
  const last = new Map<string, MemberDocument>()
  const incarnations = new Map<string, string>()
  const poll = async (): Promise<void> => {
    for (const member of await members.find({}).toArray()) {
      const before = last.get(member.incarnation)
      // When a poll missed heartbeats, the observed time is divided by their number.
      const beats = member.beat - (before?.beat ?? member.beat)
      const passed = (member.seenAt?.getTime() ?? 0) - (before?.seenAt?.getTime() ?? NaN)
      if (beats > 0 && !Number.isNaN(passed)) gaps.push(...Array.from({ length: beats }, () => passed / beats))
      last.set(member.incarnation, member)
      incarnations.set(member._id, member.incarnation)
    }
  }
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      await poll()
      await delay(POLL_MS)
    }
  })()
  return {
    gaps,
    incarnationOf: (name) => incarnations.get(name) ?? '',
    stop: async () => {
      stopped.abort()
      await watching
      await client.close()
    },
  }
}
