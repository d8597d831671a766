import type { SealedMember } from '../../../application/ports/keyring.ts'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { envelope } from '../../../domain/shared/event.ts'

/** Returns the data of an event exactly as it is stored. */
export const dataOf = ({ data }: Pick<StoredEvent, 'data'>): Readonly<Record<string, unknown>> =>
  data as Readonly<Record<string, unknown>>

/** Returns the sealed members of an event, ready for `Keyring.open`. */
export const sealedIn = ({ data, stream, type }: StoredEvent): ReadonlyArray<SealedMember> =>
  Object.entries(dataOf({ data })).flatMap(([name, value]) =>
    envelope.is(value) ? [{ envelope: value, key: value.k, stream, members: [`${type}.${name}`] }] : [])
