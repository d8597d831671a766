import * as t from 'io-ts'
import { object } from './codecs.ts'
import { parseJson } from './parse-json.ts'

/**
 * A personal member as it is stored: AES-256-GCM under the key named `k`; `iv` and `c` (ciphertext and tag) in base64;
 * `m` is the event's type and the member's name (`UserRegistered.username`), which it is bound to as to its stream.
 * Those of the first format have no `m` and are bound to the name of their key alone. When the key is erased the member
 * can never be read again.
 */
export const envelope = object({ k: t.string, iv: t.string, c: t.string }, { m: t.string })
export type Envelope = t.TypeOf<typeof envelope>

/** What a personal member reads as once its key has been erased. */
export const ERASED = '[erased]'

/** A personal member that is no string: it is sealed as JSON, and reads as `erased` once its key has been erased. */
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

/** What of a personal member is sealed. */
export const sealedText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Whether a personal member is there to be sealed, or was: it may be null, and optional ones left out. */
export const isFilled = (value: unknown): boolean => value !== null && value !== undefined

/** The form of an event in the store: its personal members are envelopes. */
export type Sealed<Data, Personal extends PropertyKey> = {
  readonly [K in keyof Data]: K extends Personal ? (null extends Data[K] ? Envelope | null : Envelope) : Data[K]
}

/**
 * One kind of event: its name, the codec of its plain data, which members are personal (strings, or `sealedJson`) and
 * under which key they are sealed. New meaning means a new name; a definition that was ever stored stays.
 */
export interface EventDefinition<Type extends string, Data, Personal extends keyof Data & string> {
  readonly type: Type
  readonly codec: t.Type<Data, unknown>
  readonly personal: ReadonlyArray<Personal>
  /** Name of the key that seals the personal members; absent where there are none. */
  readonly keyOf?: (data: Data) => string
}

/** An event of the given definition, as deciders see it: plain. */
export type EventOf<D> = D extends { readonly type: infer Type; readonly codec: t.Type<infer Data, unknown> }
  ? { readonly type: Type; readonly data: Data }
  : never

/** An event of the given definition, as the store and the projections see it: sealed. */
export type StoredEventOf<D> = D extends {
  readonly type: infer Type
  readonly codec: t.Type<infer Data, unknown>
  readonly personal: ReadonlyArray<infer Personal>
}
  ? { readonly type: Type; readonly data: Sealed<Data, Extract<Personal, PropertyKey>> }
  : never

export const defineEvent = <Type extends string, Data>(type: Type, codec: t.Type<Data, unknown>): EventDefinition<Type, Data, never> => ({
  type,
  codec,
  personal: [],
})

export const definePersonalEvent = <Type extends string, Data, Personal extends keyof Data & string>(
  type: Type,
  codec: t.Type<Data, unknown>,
  personal: ReadonlyArray<Personal>,
  keyOf: (data: Data) => string,
): EventDefinition<Type, Data, Personal> => ({ type, codec, personal, keyOf })
