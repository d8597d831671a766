import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { definitionOf, upgrade } from './all-events.ts'
import type { AnyEventDefinition } from './all-events.ts'
import { decodeOrThrow } from './shared/codecs.ts'
import { envelope, ERASED, isFilled } from './shared/event.ts'
import type { Envelope, StoredEventOf } from './shared/event.ts'

// The one place that knows what is in the data of a stored event: all who read the log come through here, and for
// personal members in clear through application/log/event-serialization.ts, which stands on it.

/** An event as a store hands it out: nobody knows yet what its data says. */
export interface RawEvent {
  readonly type: string
  readonly data: unknown
  readonly stream: string
  readonly revision: number
}

/** The event is of a type that this version does not know: a newer one wrote it. */
export interface EventTypeUnknown {
  readonly _tag: 'EventTypeUnknown'
  readonly type: string
  readonly stream: string
  readonly revision: number
}

/** The event is nothing that any version writes. */
export interface EventMisfit {
  readonly _tag: 'EventMisfit'
  /** What is wrong with it, to stand behind its place. */
  readonly reason: string
}

export type Members = Readonly<Record<string, unknown>>

export interface SealedEvent {
  readonly definition: AnyEventDefinition
  /** In the present shape, decoded; personal members are envelopes, or null. */
  readonly data: Members
  readonly envelopes: ReadonlyArray<readonly [member: string, envelope: Envelope]>
  /** Name of the key that they must be sealed with; empty where there are none. */
  readonly key: string
}

type Reading = Either<EventTypeUnknown | EventMisfit, SealedEvent>

const isMembers = (data: unknown): data is Members => typeof data === 'object' && data !== null && !Array.isArray(data)

const read = ({ type, data: stored, stream, revision }: RawEvent): Reading => {
  const definition = definitionOf(type)
  if (definition === undefined) return E.left({ _tag: 'EventTypeUnknown', type, stream, revision })
  try {
    if (!isMembers(stored)) throw new Error('its data is no object')
    const present = upgrade(type, stored)
    const filled = definition.personal.filter((member) => isFilled(present[member]))
    const envelopes = filled.map((member) => [member, decodeOrThrow(envelope, present[member])] as const)
    // Every codec takes ERASED for a personal member, since that is what it may read as one day.
    const erased = Object.fromEntries(filled.map((member) => [member, ERASED]))
    const data = decodeOrThrow(definition.codec, { ...present, ...erased })
    const key = envelopes.length === 0 ? undefined : definition.keyOf?.(data)
    return E.right({ definition, data: { ...data, ...Object.fromEntries(envelopes) }, envelopes, key: key ?? '' })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return E.left({ _tag: 'EventMisfit', reason: `is no ${type}: ${why}` })
  }
}

/** What was read of each event: several look at the same one. */
const readings = new WeakMap<RawEvent, Reading>()

/** An event of any type in its present shape, personal members sealed, or why it cannot be used. */
export const readEvent = (event: RawEvent): Reading => {
  const before = readings.get(event)
  if (before !== undefined) return before
  const now = read(event)
  readings.set(event, now)
  return now
}

/**
 * Takes events of these definitions, in their types, personal members sealed. Undefined for all others and for those
 * that cannot be read: whoever folds a log goes on without them.
 */
export const reading = <Definition extends { readonly type: string }>(
  definitions: ReadonlyArray<Definition>,
): ((event: RawEvent) => StoredEventOf<Definition> | undefined) => {
  const types: ReadonlySet<string> = new Set(definitions.map(({ type }) => type))
  return (event) => {
    if (!types.has(event.type)) return undefined
    const sealed = readEvent(event)
    if (E.isLeft(sealed)) return undefined
    // The codec of its definition has decoded it.
    return { type: event.type, data: sealed.right.data } as unknown as StoredEventOf<Definition>
  }
}

/** Whether this version knows the type: events of others say nothing to it. */
export const isOfKnownType = ({ type }: Pick<RawEvent, 'type'>): boolean => definitionOf(type) !== undefined

/** Members of an event of any type, personal ones sealed; none of one that cannot be read. */
export const membersOf = (event: RawEvent): Members => {
  const sealed = readEvent(event)
  return E.isLeft(sealed) ? {} : sealed.right.data
}
