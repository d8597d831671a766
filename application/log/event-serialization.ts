import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { definitionOf } from '../../domain/all-events.ts'
import { decodeOrThrow } from '../../domain/shared/codecs.ts'
import { readEvent } from '../../domain/read-event.ts'
import type { EventMisfit, EventTypeUnknown, Members, SealedEvent } from '../../domain/read-event.ts'
import { isFilled, textToSeal } from '../../domain/shared/event.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import type { LogCorrupted, StoredEvent } from '../ports/event-store.ts'
import type { KeyErased, KeyMissing, Keyring, KeyringUnavailable, SealedMember, Unopened } from '../ports/keyring.ts'

/** Why an event cannot be used: a newer version wrote it, or it is not what any version writes. */
export type Unreadable = EventTypeUnknown | LogCorrupted

interface PlainEvent {
  readonly type: string
  readonly data: unknown
}

/** An event as it is written: personal members are envelopes. */
interface WrittenEvent {
  readonly type: string
  readonly data: Members
}

/** An event in clear. What was sealed with the keys `missing` reads ERASED, and would open with the right keyring. */
export interface OpenedEvent extends PlainEvent {
  readonly missing: ReadonlyArray<string>
}

/** The refusal of what needs an event that cannot be used. */
export const refusalOf = (event: StoredEvent, why: EventTypeUnknown | EventMisfit): Unreadable => {
  const { stream, revision, position } = event
  if (why._tag === 'EventTypeUnknown') return why
  const reason = `revision ${revision} of ${stream}, position ${position}, ${why.reason}`
  return { _tag: 'LogCorrupted', reason, row: { stream, position } }
}

/** Why the event cannot be used, null where it can as far as its envelopes open. */
export const whyUnreadable = (event: StoredEvent): Unreadable | null => {
  const sealed = readEvent(event)
  return E.isLeft(sealed) ? refusalOf(event, sealed.left) : null
}

/** Events ready for the log, to stand in `stream`: decoded, personal members sealed under their definition's key. */
export const sealEvents =
  (keyring: Pick<Keyring, 'seal'>, stream: string) =>
  (
    events: ReadonlyArray<PlainEvent>,
  ): TaskEither<KeyringUnavailable | KeyErased | KeyMissing, ReadonlyArray<WrittenEvent>> =>
  async () => {
    const sealed: Array<WrittenEvent> = []
    for (const { type, data: plain } of events) {
      const definition = definitionOf(type)
      if (definition === undefined) throw new Error(`no definition of the event ${type}`)
      // Decoded even though it is ours: what cannot be read back must never reach the log.
      const data: Record<string, unknown> = { ...decodeOrThrow(definition.codec, plain) }
      const filled = definition.personal.filter((member) => isFilled(data[member]))
      if (definition.keyOf !== undefined && filled.length > 0) {
        const members = filled.map((member) => ({ text: textToSeal(data[member]), stream, member: `${type}.${member}` }))
        const envelopes = await keyring.seal(definition.keyOf(plain), members)()
        if (E.isLeft(envelopes)) return envelopes
        filled.forEach((member, index) => { data[member] = envelopes.right[index] })
      }
      sealed.push({ type, data })
    }
    return E.right(sealed)
  }

const sealedMembers = ({ stream, type }: StoredEvent, { envelopes, key }: SealedEvent): ReadonlyArray<SealedMember> =>
  envelopes.map(([member, sealed]) => ({ envelope: sealed, key, stream, members: [`${type}.${member}`] }))

/** The event with the texts of its envelopes, in their order. */
const inClear = (
  { type }: StoredEvent,
  { definition, data, envelopes }: SealedEvent,
  texts: ReadonlyArray<Either<Unopened, string>>,
): Either<EventMisfit, OpenedEvent> => {
  const unopened = texts.flatMap((text) => (E.isLeft(text) ? [text.left] : []))
  if (unopened.some(({ _tag }) => _tag === 'EnvelopeForeign'))
    return E.left({ _tag: 'EventMisfit', reason: 'holds an envelope that was changed, or was not sealed for it' })
  const members = envelopes.map(([member], index) => [member, textOrErased(texts[index])] as const)
  try {
    const clear = decodeOrThrow(definition.codec, { ...data, ...Object.fromEntries(members) })
    const missing = new Set(unopened.flatMap(({ _tag, key }) => (_tag === 'KeyMissing' ? [key] : [])))
    return E.right({ type, data: clear, missing: [...missing] })
  } catch (error) {
    const why = messageOf(error)
    return E.left({ _tag: 'EventMisfit', reason: `is no ${type}: ${why}` })
  }
}

/** Each stored event in clear, or why it cannot be used, in the order given. Without its key a member reads ERASED. */
export const openEach =
  (keyring: Pick<Keyring, 'open'>) =>
  (
    stored: ReadonlyArray<StoredEvent>,
  ): TaskEither<KeyringUnavailable, ReadonlyArray<Either<EventTypeUnknown | EventMisfit, OpenedEvent>>> =>
  async () => {
    const sealed = stored.map(readEvent)
    const members = stored.map((event, index): ReadonlyArray<SealedMember> => {
      const its = sealed[index]
      return its === undefined || E.isLeft(its) ? [] : sealedMembers(event, its.right)
    })
    const all = members.flat()
    // Streams without personal members fold even while the keyring is away.
    const texts = all.length === 0 ? E.right([]) : await keyring.open(all)()
    if (E.isLeft(texts)) return texts
    let from = 0
    return E.right(
      stored.map((event, index) => {
        const its = readEvent(event)
        if (E.isLeft(its)) return its
        const until = from + (members[index]?.length ?? 0)
        const opened = inClear(event, its.right, texts.right.slice(from, until))
        from = until
        return opened
      }),
    )
  }

const plainOf = ({ type, data }: OpenedEvent): PlainEvent => ({ type, data })

/**
 * Stored events back to plain ones, for decisions: refused at the first that cannot be used, for what it says might
 * change the decision. Erased members read ERASED.
 */
export const openEvents =
  (keyring: Pick<Keyring, 'open'>) =>
  (stored: ReadonlyArray<StoredEvent>): TaskEither<KeyringUnavailable | Unreadable, ReadonlyArray<PlainEvent>> =>
  async () => {
    const each = await openEach(keyring)(stored)()
    if (E.isLeft(each)) return each
    const plain: Array<PlainEvent> = []
    for (const [index, event] of stored.entries()) {
      const opened = each.right[index]
      if (opened === undefined) continue
      if (E.isLeft(opened)) return E.left(refusalOf(event, opened.left))
      plain.push(plainOf(opened.right))
    }
    return E.right(plain)
  }

/** Stored events back to plain ones, for folds: those that cannot be used are passed over. */
export const openReadable =
  (keyring: Pick<Keyring, 'open'>) =>
  (stored: ReadonlyArray<StoredEvent>): TaskEither<KeyringUnavailable, ReadonlyArray<PlainEvent>> =>
  async () => {
    const each = await openEach(keyring)(stored)()
    if (E.isLeft(each)) return each
    return E.right(each.right.flatMap((event) => (E.isLeft(event) ? [] : [plainOf(event.right)])))
  }
