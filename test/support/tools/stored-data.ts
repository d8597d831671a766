import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { envelope } from '../../../domain/shared/event.ts'
import type { SealedMember } from '../../../application/ports/keyring.ts'

/** What lies in the store, untouched: for tests of what is written. */
export const dataOf = ({ data }: Pick<StoredEvent, 'data'>): Readonly<Record<string, unknown>> => data as Readonly<Record<string, unknown>>

/** The sealed members of an event where they stand. */
export const sealedIn = (event: StoredEvent): ReadonlyArray<SealedMember> =>
  Object.entries(dataOf(event)).flatMap(([name, value]) =>
    envelope.is(value) ? [{ envelope: value, key: value.k, stream: event.stream, members: [`${event.type}.${name}`] }] : [])
