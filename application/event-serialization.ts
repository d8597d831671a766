import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { definitionOf, upgrade } from '../domain/all-events.ts'
import { decodeOrThrow } from '../domain/shared/codecs.ts'
import { envelope, ERASED } from '../domain/shared/event.ts'
import type { Envelope } from '../domain/shared/event.ts'
import type { StoredEvent } from './ports/event-store.ts'
import type { KeyErased, Keyring, KeyringUnavailable } from './ports/keyring.ts'

interface PlainEvent {
  readonly type: string
  readonly data: unknown
}

interface SealedEvent {
  readonly type: string
  readonly data: Record<string, unknown>
}

const knownDefinition = (type: string) => {
  const definition = definitionOf(type)
  if (definition === undefined) throw new Error(`no definition of the event ${type}`)
  return definition
}

const membersOf = (data: unknown): Record<string, unknown> => ({ ...(data as object) })

/** A domain event ready for the log: personal members sealed under the definition's key. */
export const sealEvents =
  (keyring: Keyring) =>
  (events: ReadonlyArray<PlainEvent>): TaskEither<KeyringUnavailable | KeyErased, ReadonlyArray<SealedEvent>> =>
  async () => {
    const sealed: Array<SealedEvent> = []
    for (const event of events) {
      const definition = knownDefinition(event.type)
      // Decoded even though it is ours: what cannot be read back must never reach the log.
      const data = membersOf(decodeOrThrow(definition.codec, event.data))
      const filled = definition.personal.filter((member) => data[member] !== null)
      if (definition.keyOf !== undefined && filled.length > 0) {
        const envelopes = await keyring.seal(definition.keyOf(event.data), filled.map((member) => String(data[member])))()
        if (E.isLeft(envelopes)) return envelopes
        filled.forEach((member, index) => { data[member] = envelopes.right[index] })
      }
      sealed.push({ type: event.type, data })
    }
    return E.right(sealed)
  }

/** Stored events back to plain ones, decoded by their codec (a misfit is a defect and throws); erased members read ERASED. */
export const openEvents =
  (keyring: Pick<Keyring, 'open'>) =>
  (stored: ReadonlyArray<Pick<StoredEvent, 'type' | 'data'>>): TaskEither<KeyringUnavailable, ReadonlyArray<PlainEvent>> =>
  async () => {
    const plain = stored.map(({ type, data }) => ({ definition: knownDefinition(type), data: { ...upgrade(type, data) } }))
    const sealedMembers = plain.flatMap(({ definition, data }) => definition.personal
      .filter((member) => data[member] !== null)
      .map((member) => ({ data, member, envelope: decodeOrThrow<Envelope>(envelope, data[member]) })))
    // Streams without personal members fold even while the keyring is away.
    const opened = sealedMembers.length === 0 ? E.right([]) : await keyring.open(sealedMembers.map((entry) => entry.envelope))()
    if (E.isLeft(opened)) return opened

    sealedMembers.forEach(({ data, member }, index) => { data[member] = O.getOrElse(() => ERASED)(opened.right[index] ?? O.none) })
    return E.right(plain.map(({ definition, data }) => ({ type: definition.type, data: decodeOrThrow(definition.codec, data) })))
  }
