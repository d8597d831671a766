import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { type AnyEventDefinition, definitionOf, upgrade } from './all-events.ts'
import { decodeOrThrow } from './shared/codecs.ts'
import { type Envelope, envelope, ERASED, isFilled, type StoredEventOf } from './shared/event.ts'
import { messageOf } from './shared/message-of.ts'

// The only place that decodes stored events. Code that needs personal members in clear text uses
// application/log/event-serialization.ts, which calls this file.

/** An event as a store returns it, not decoded yet. */
export interface RawEvent {
  readonly type: string
  readonly data: unknown
  readonly stream: string
  readonly revision: number
}

/** This version does not know the event type: a newer version wrote the event. */
export interface EventTypeUnknown {
  readonly _tag: 'EventTypeUnknown'
  readonly type: string
  readonly stream: string
  readonly revision: number
}

/** The event does not match its definition, so no version of Stenolog wrote it in this form. */
export interface EventMisfit {
  readonly _tag: 'EventMisfit'
  /** Describes the problem. It continues a sentence that begins with the place of the event. */
  readonly reason: string
}

export type Members = Readonly<Record<string, unknown>>

/** A decoded event whose personal members are still encrypted (sealed in envelopes). */
export interface SealedEvent {
  readonly definition: AnyEventDefinition
  /** The decoded data in its present shape. Personal members are envelopes, or null. */
  readonly data: Members
  readonly envelopes: ReadonlyArray<readonly [member: string, envelope: Envelope]>
  /** Name of the key that must seal the envelopes. Empty when there are no envelopes. */
  readonly key: string
}

type Decoded = Either<EventTypeUnknown | EventMisfit, SealedEvent>

const isMembers = (data: unknown): data is Members => typeof data === 'object' && data !== null && !Array.isArray(data)

const decode = ({ type, data: stored, stream, revision }: RawEvent): Decoded => {
  const definition = definitionOf(type)
  if (definition === undefined) return E.left({ _tag: 'EventTypeUnknown', type, stream, revision })
  try {
    if (!isMembers(stored)) throw new Error('its data is not an object')
    const present = upgrade(type, stored)
    const filled = definition.personal.filter((member) => isFilled(present[member]))
    const envelopes = filled.map((member) => [member, decodeOrThrow(envelope, present[member])] as const)
    // Codecs accept ERASED for every personal member, so the rest can be checked without any key.
    const erased = Object.fromEntries(filled.map((member) => [member, ERASED]))
    const data = decodeOrThrow(definition.codec, { ...present, ...erased })
    const key = envelopes.length === 0 ? undefined : definition.keyOf?.(data)
    return E.right({ definition, data: { ...data, ...Object.fromEntries(envelopes) }, envelopes, key: key ?? '' })
  } catch (error) {
    return E.left({ _tag: 'EventMisfit', reason: `is not a valid ${type}: ${messageOf(error)}` })
  }
}

/** Decoded events. Several readers often decode the same event. */
const cache = new WeakMap<RawEvent, Decoded>()

/** Decodes an event of any type into its present shape. Its personal members stay encrypted. */
export const readEvent = (event: RawEvent): Decoded => {
  const cached = cache.get(event)
  if (cached !== undefined) return cached
  const decoded = decode(event)
  cache.set(event, decoded)
  return decoded
}

/**
 * Returns a function that decodes events of these definitions. Personal members stay encrypted. The function returns
 * undefined for events of other types and for damaged events, so a fold skips both.
 */
export const eventReader = <Definition extends { readonly type: string }>(
  definitions: ReadonlyArray<Definition>,
): ((event: RawEvent) => StoredEventOf<Definition> | undefined) => {
  const types: ReadonlySet<string> = new Set(definitions.map(({ type }) => type))
  return (event) => {
    if (!types.has(event.type)) return undefined
    const sealed = readEvent(event)
    if (E.isLeft(sealed)) return undefined
    // Safe: the codec of this definition has decoded the data.
    return { type: event.type, data: sealed.right.data } as unknown as StoredEventOf<Definition>
  }
}

/** True when this version knows the type of the event. Readers skip events of unknown types. */
export const isOfKnownType = ({ type }: Pick<RawEvent, 'type'>): boolean => definitionOf(type) !== undefined

/** Returns the members of an event of any type. Personal members stay encrypted. A damaged event has no members. */
export const membersOf = (event: RawEvent): Members => {
  const sealed = readEvent(event)
  return E.isLeft(sealed) ? {} : sealed.right.data
}
