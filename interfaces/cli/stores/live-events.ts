import * as E from 'fp-ts/lib/Either.js'
import { openEach } from '../../../application/log/event-serialization.ts'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import type { Keyring } from '../../../application/ports/keyring.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'

/** Of an event in clear; what lets somebody in is left out. */
const SECRETS = new Set(['senderToken', 'listenerToken', 'passwordHash', 'secretHash'])

/** What happened, for people: personal members in clear (`[erased]` once their key is gone), tokens left out. */
export const clearData = async (keyring: Pick<Keyring, 'open'>, event: StoredEvent): Promise<Readonly<Record<string, unknown>>> => {
  const [clear] = orThrow(await openEach(keyring)([event])(), 'the keys cannot be read')
  // Of what a newer version wrote it is not known what is secret.
  if (clear === undefined) return {}
  if (E.isLeft(clear)) return clear.left._tag === 'EventTypeUnknown' ? {} : { unreadable: clear.left.reason }
  const data = clear.right.data as Readonly<Record<string, unknown>>
  return Object.fromEntries(Object.entries(data).filter(([name]) => !SECRETS.has(name)))
}

/** An event as it is exported. */
export const clearEvent = async (keyring: Pick<Keyring, 'open'>, event: StoredEvent) => {
  const { revision, type, metadata } = event
  return { revision, type, recordedAt: metadata.recordedAt, actor: metadata.actor, data: await clearData(keyring, event) }
}
