import * as t from 'io-ts'
import { object } from './codecs.ts'
import { parseJson } from './parse-json.ts'

/**
 * A personal member as it is stored: sealed (encrypted) with AES-256-GCM under the key named `k`. `iv` and `c`
 * (ciphertext and tag) are base64. `m` is the event type and the member name (`UserRegistered.username`). The
 * additional authenticated data binds the ciphertext to `m` and to the stream. Envelopes of the first format have no
 * `m` and are bound only to the key name. Once the key is erased, nobody can read the member again.
 */
export const envelope = object({ k: t.string, iv: t.string, c: t.string }, { m: t.string })
export type Envelope = t.TypeOf<typeof envelope>

/** Replaces a personal member whose key was erased. */
export const ERASED = '[erased]'

/**
 * Codec of a personal member that is not a string. The member is sealed as JSON. Once its key is erased, the codec
 * decodes it as `erased`.
 */
export const sealedJson = <A>(codec: t.Type<A, unknown>, erased: A): t.Type<A, unknown> =>
  new t.Type<A, unknown>(
    codec.name,
    codec.is,
    (u, context) => {
      if (u === ERASED) return t.success(erased)
      return codec.validate(typeof u === 'string' ? parseJson(u) : u, context)
    },
    t.identity,
  )

/** Returns a personal member as the text that is encrypted. */
export const textToSeal = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** True when a personal member has a value. A member may be null, and an optional member may be missing. */
export const isFilled = (value: unknown): boolean => value !== null && value !== undefined

/** The data of an event as it is stored: its personal members are envelopes. */
export type Sealed<Data, Personal extends PropertyKey> = {
  readonly [K in keyof Data]: K extends Personal ? (null extends Data[K] ? Envelope | null : Envelope) : Data[K]
}

/**
 * One type of event: its name, the codec of its plain data, its personal members (strings, or `sealedJson`) and the key
 * that seals them. A new meaning needs a new name. Once an event of a type was stored, its definition is never removed.
 */
export interface EventDefinition<Type extends string, Data, Personal extends keyof Data & string> {
  readonly type: Type
  readonly codec: t.Type<Data, unknown>
  readonly personal: ReadonlyArray<Personal>
  /**
   * Returns the name of the key that seals the personal members of plain `data`. Absent when no member is personal.
   * Throws for data of another event type.
   */
  readonly keyOf?: (data: unknown) => string
}

/** An event with plain data, as deciders see it. */
export type EventOf<D> = D extends { readonly type: infer Type; readonly codec: t.Type<infer Data, unknown> }
  ? { readonly type: Type; readonly data: Data }
  : never

/** An event with sealed data, as stores and projections see it. */
export type StoredEventOf<D> = D extends {
  readonly type: infer Type
  readonly codec: t.Type<infer Data, unknown>
  readonly personal: ReadonlyArray<infer Personal>
}
  ? { readonly type: Type; readonly data: Sealed<Data, Extract<Personal, PropertyKey>> }
  : never

export const defineEvent = <Type extends string, Data>(
  type: Type,
  codec: t.Type<Data, unknown>,
): EventDefinition<Type, Data, never> => ({ type, codec, personal: [] })

export const definePersonalEvent = <Type extends string, Data, Personal extends keyof Data & string>(
  type: Type,
  codec: t.Type<Data, unknown>,
  personal: ReadonlyArray<Personal>,
  keyOf: (data: Data) => string,
): EventDefinition<Type, Data, Personal> => ({
  type,
  codec,
  personal,
  keyOf: (data) => {
    if (!codec.is(data)) throw new TypeError(`not the plain data of ${type}`)
    return keyOf(data)
  },
})
