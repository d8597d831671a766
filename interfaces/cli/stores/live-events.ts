import * as E from 'fp-ts/lib/Either.js'
import { openEach } from '../../../application/log/event-serialization.ts'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import type { Keyring } from '../../../application/ports/keyring.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'

/** Members of events that grant access. The output never contains them. */
const SECRETS = new Set(['senderToken', 'listenerToken', 'passwordHash', 'secretHash'])

/**
 * Decrypts the members of an event and leaves out tokens and hashes. Personal members whose key was erased become
 * `[erased]`. An unreadable event becomes `{ unreadable: reason }`.
 */
export const clearData = async (
  keyring: Pick<Keyring, 'open'>,
  event: StoredEvent,
): Promise<Readonly<Record<string, unknown>>> => {
  const [clear] = orThrow(await openEach(keyring)([event]), 'the keys cannot be read')
  // An event type of a newer version may have secret members that this version does not know: show nothing.
  if (clear === undefined) return {}
  if (E.isLeft(clear)) return clear.left._tag === 'EventTypeUnknown' ? {} : { unreadable: clear.left.reason }
  const data = clear.right.data as Readonly<Record<string, unknown>>
  return Object.fromEntries(Object.entries(data).filter(([name]) => !SECRETS.has(name)))
}

/** Returns an event in the format of the export, decrypted. */
export const clearEvent = async (keyring: Pick<Keyring, 'open'>, event: StoredEvent) => {
  const { revision, type, metadata } = event
  return {
    revision, type, recordedAt: metadata.recordedAt, actor: metadata.actor, data: await clearData(keyring, event),
  }
}
