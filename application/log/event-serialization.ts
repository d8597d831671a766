import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as RA from 'fp-ts/lib/ReadonlyArray.js'
import { pipe } from 'fp-ts/lib/function.js'
import { definitionOf } from '../../domain/all-events.ts'
import { decodeOrThrow } from '../../domain/shared/codecs.ts'
import {
  type EventMisfit, type EventTypeUnknown, type Members, readEvent, type SealedEvent,
} from '../../domain/read-event.ts'
import { isFilled, textToSeal } from '../../domain/shared/event.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import type { LogCorrupted, StoredEvent } from '../ports/event-store.ts'
import type { KeyErased, KeyMissing, Keyring, KeyringUnavailable, SealedMember, Unopened } from '../ports/keyring.ts'

/** The event cannot be used: a newer version wrote it, or it is damaged. */
export type Unreadable = EventTypeUnknown | LogCorrupted

export interface PlainEvent {
  readonly type: string
  readonly data: unknown
}

/** An event before its append. Personal members are encrypted (envelopes). */
interface WrittenEvent {
  readonly type: string
  readonly data: Members
}

/** An event in clear text. */
export interface OpenedEvent extends PlainEvent {
  /** Names of the keys that this keyring does not have. Members sealed with them read `[erased]`. */
  readonly missing: ReadonlyArray<string>
  /** False when a member reads `[erased]`. */
  readonly isWhole: boolean
}

/** Returns the error for a read that needs this unusable event. */
export const refusalOf = (event: StoredEvent, why: EventTypeUnknown | EventMisfit): Unreadable => {
  const { stream, revision, position } = event
  if (why._tag === 'EventTypeUnknown') return why
  const reason = `revision ${revision} of ${stream}, position ${position}, ${why.reason}`
  return { _tag: 'LogCorrupted', reason, row: { stream, position } }
}

/** Returns why the event cannot be used, or null. Envelopes are not checked. */
export const whyUnreadable = (event: StoredEvent): Unreadable | null => {
  const sealed = readEvent(event)
  return E.isLeft(sealed) ? refusalOf(event, sealed.left) : null
}

/** Prepares events for an append to `stream`: checks them and seals their personal members. */
export const sealEvents =
  (keyring: Pick<Keyring, 'seal'>, stream: string) =>
  async (
    events: ReadonlyArray<PlainEvent>,
  ): Promise<Either<KeyringUnavailable | KeyErased | KeyMissing, ReadonlyArray<WrittenEvent>>> => {
    const sealed: Array<WrittenEvent> = []
    for (const { type, data: plain } of events) {
      const definition = definitionOf(type)
      if (definition === undefined) throw new Error(`unknown event type ${type}`)
      // Stenolog made the data itself. It is checked anyway, because an event that cannot be read must not be written.
      const data: Record<string, unknown> = { ...decodeOrThrow(definition.codec, plain) }
      const filled = definition.personal.filter((member) => isFilled(data[member]))
      if (definition.keyOf !== undefined && filled.length > 0) {
        const members = filled.map((member) =>
          ({ text: textToSeal(data[member]), stream, member: `${type}.${member}` }))
        const envelopes = await keyring.seal(definition.keyOf(plain), members)
        if (E.isLeft(envelopes)) return envelopes
        filled.forEach((member, index) => { data[member] = envelopes.right[index] })
      }
      sealed.push({ type, data })
    }
    return E.right(sealed)
  }

const sealedMembers = ({ stream, type }: StoredEvent, { envelopes, key }: SealedEvent): ReadonlyArray<SealedMember> =>
  envelopes.map(([member, sealed]) => ({ envelope: sealed, key, stream, members: [`${type}.${member}`] }))

/** Returns the event in clear text. `texts`: the opened envelopes, in their order. */
const inClearText = (
  { type }: StoredEvent,
  { definition, data, envelopes }: SealedEvent,
  texts: ReadonlyArray<Either<Unopened, string>>,
): Either<EventMisfit, OpenedEvent> => {
  const unopened = texts.flatMap((text) => (E.isLeft(text) ? [text.left] : []))
  if (unopened.some(({ _tag }) => _tag === 'EnvelopeForeign'))
    return E.left({ _tag: 'EventMisfit', reason: 'contains an encrypted value that was changed or copied' })
  const members = envelopes.map(([member], index) => [member, textOrErased(texts[index])] as const)
  try {
    const clear = decodeOrThrow(definition.codec, { ...data, ...Object.fromEntries(members) })
    const missing = new Set(unopened.flatMap(({ _tag, key }) => (_tag === 'KeyMissing' ? [key] : [])))
    return E.right({ type, data: clear, missing: [...missing], isWhole: unopened.length === 0 })
  } catch (error) {
    return E.left({ _tag: 'EventMisfit', reason: `is not a valid ${type}: ${messageOf(error)}` })
  }
}

/** Decrypts each stored event. Left: why the event cannot be used. A member without its key reads `[erased]`. */
export const openEach =
  (keyring: Pick<Keyring, 'open'>) =>
  async (
    stored: ReadonlyArray<StoredEvent>,
  ): Promise<Either<KeyringUnavailable, ReadonlyArray<Either<EventTypeUnknown | EventMisfit, OpenedEvent>>>> => {
    const sealed = stored.map(readEvent)
    const members = stored.map((event, index): ReadonlyArray<SealedMember> => {
      const decoded = sealed[index]
      return decoded === undefined || E.isLeft(decoded) ? [] : sealedMembers(event, decoded.right)
    })
    const all = members.flat()
    // Streams without personal members must be readable while the keyring is unavailable.
    const texts = all.length === 0 ? E.right([]) : await keyring.open(all)
    if (E.isLeft(texts)) return texts
    let from = 0
    return E.right(
      stored.map((event, index) => {
        const decoded = readEvent(event)
        if (E.isLeft(decoded)) return decoded
        const until = from + (members[index]?.length ?? 0)
        const opened = inClearText(event, decoded.right, texts.right.slice(from, until))
        from = until
        return opened
      }),
    )
  }

const plainOf = ({ type, data }: OpenedEvent): PlainEvent => ({ type, data })

/**
 * Decrypts stored events for a decision. It fails at the first unusable event, because that event could change the
 * decision. Erased members read `[erased]`.
 */
export const openEvents =
  (keyring: Pick<Keyring, 'open'>) =>
  async (
    stored: ReadonlyArray<StoredEvent>,
  ): Promise<Either<KeyringUnavailable | Unreadable, ReadonlyArray<PlainEvent>>> =>
    pipe(
      await openEach(keyring)(stored),
      E.map((each) => RA.zipWith(stored, each, (event, opened) =>
        pipe(opened, E.bimap((why) => refusalOf(event, why), plainOf)))),
      E.chainW(E.sequenceArray),
    )

/** Decrypts stored events and skips unusable events. Do not use it for decisions. */
export const openReadable =
  (keyring: Pick<Keyring, 'open'>) =>
  async (stored: ReadonlyArray<StoredEvent>): Promise<Either<KeyringUnavailable, ReadonlyArray<PlainEvent>>> =>
    pipe(await openEach(keyring)(stored), E.map(RA.rights), E.map(RA.map(plainOf)))
