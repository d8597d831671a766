import * as E from 'fp-ts/lib/Either.js'
import { openEvents } from '../../../application/event-serialization.ts'
import type { EventStore, Revision, StoredEvent } from '../../../application/ports/event-store.ts'
import type { Keyring } from '../../../application/ports/keyring.ts'
import { definitionOf } from '../../../domain/all-events.ts'

/** Rows in a row that cannot be read before the rest of a stream counts as lost: the file itself is damaged. */
const MAX_LOST_IN_A_ROW = 100

/** A revision that cannot be read, and why. */
export interface LostRevision {
  readonly stream: string
  readonly revision: Revision
  readonly reason: string
}

export interface ReadAround {
  readonly events: ReadonlyArray<StoredEvent>
  readonly lost: ReadonlyArray<LostRevision>
}

/** A stream's events, but for those that are not what was written. Throws when the store cannot be reached. */
export const readAround = async ({ read }: Pick<EventStore, 'read'>, stream: string): Promise<ReadAround> => {
  const whole = await read(stream)()
  if (E.isRight(whole)) return { events: whole.right, lost: [] }
  const events: Array<StoredEvent> = []
  const lost: Array<LostRevision> = []
  let inARow = 0
  for (let revision = 0; inARow < MAX_LOST_IN_A_ROW; ) {
    const one = await read(stream, { from: revision, limit: 1 })()
    if (E.isLeft(one)) {
      if (one.left._tag === 'StoreUnavailable') throw new Error(`the log cannot be read: ${one.left.reason}`)
      lost.push({ stream, revision, reason: one.left.reason })
      inARow += 1
      revision += 1
      continue
    }
    const [event] = one.right
    if (event === undefined) break
    events.push(event)
    inARow = 0
    revision = event.revision + 1
  }
  return { events, lost }
}

/** Of an event in clear; what lets somebody in is left out. */
const SECRETS = new Set(['senderToken', 'listenerToken', 'passwordHash', 'secretHash'])

/** What happened, for people: personal members in clear (`[erased]` once their key is gone), tokens left out. */
export const clearData = async (keyring: Pick<Keyring, 'open'>, event: StoredEvent): Promise<Readonly<Record<string, unknown>>> => {
  if (definitionOf(event.type) === undefined) return event.data
  const opened = await openEvents(keyring)([event])()
  if (E.isLeft(opened)) throw new Error(`the keys cannot be read: ${opened.left.reason}`)
  const data = (opened.right[0]?.data ?? {}) as Readonly<Record<string, unknown>>
  return Object.fromEntries(Object.entries(data).filter(([name]) => !SECRETS.has(name)))
}

/** An event as it is exported. */
export const clearEvent = async (keyring: Pick<Keyring, 'open'>, event: StoredEvent) => {
  const { revision, type, metadata } = event
  return { revision, type, recordedAt: metadata.recordedAt, actor: metadata.actor, data: await clearData(keyring, event) }
}
