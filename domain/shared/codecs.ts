import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { hasCodePoints } from './code-points.ts'

/** Bounds that a codec checks. Error messages and the OpenAPI description are made from them. */
export type Bounds =
  | { readonly kind: 'number' | 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'string'; readonly min: number; readonly max: number; readonly pattern?: RegExp }

export type Bounded<A> = t.Type<A> & { readonly bounds: Bounds }

const bounded = <A>(name: string, is: t.Is<A>, bounds: Bounds): Bounded<A> => {
  const codec = new t.Type<A>(name, is, (u, c) => (is(u) ? t.success(u) : t.failure(u, c)), t.identity)
  return Object.assign(codec, { bounds })
}

/** Accepts finite numbers from `min` to `max`. The `t.number` of io-ts also accepts NaN and Infinity (JSON `1e999`). */
export const boundedNumber = (min: number, max: number): Bounded<number> => {
  const is = (u: unknown): u is number => typeof u === 'number' && Number.isFinite(u) && u >= min && u <= max
  return bounded(`number from ${min} to ${max}`, is, { kind: 'number', min, max })
}

export const boundedInteger = (min: number, max: number): Bounded<number> => {
  const is = (u: unknown): u is number => typeof u === 'number' && Number.isInteger(u) && u >= min && u <= max
  return bounded(`integer from ${min} to ${max}`, is, { kind: 'integer', min, max })
}

/** Accepts strings of `min` to `max` code points that match `pattern`, if a pattern is given. */
export const boundedString = (min: number, max: number, pattern?: RegExp): Bounded<string> => {
  const is = (u: unknown): u is string =>
    typeof u === 'string' && hasCodePoints(u, min, max) && (pattern === undefined || pattern.test(u))
  const name = `string of ${min} to ${max} characters${pattern === undefined ? '' : ` matching ${pattern.source}`}`
  return bounded(name, is, { kind: 'string', min, max, ...(pattern === undefined ? {} : { pattern }) })
}

/** Id of a resource: a positive integer. */
export const id = boundedInteger(1, Number.MAX_SAFE_INTEGER)

/** An instant in the only form that Stenolog stores and sends: `YYYY-MM-DDTHH:MM:SS.ffffff+00:00`. */
export const instant = boundedString(32, 32, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/)

/** Accepts an object with these required and optional members, and strips unknown members. */
export const object = <R extends t.Props, O extends t.Props = Record<never, never>>(
  required: R,
  optional?: O,
  name?: string,
) => t.exact(t.intersection([t.type(required), t.partial(optional ?? ({} as O))]), name)

/** Returns the decoded value. Throws when the value does not match. Use it only for data that Stenolog itself wrote. */
export const decodeOrThrow = <A>(codec: t.Decoder<unknown, A>, value: unknown): A => {
  const decoded = codec.decode(value)
  if (E.isLeft(decoded)) {
    const where = decoded.left[0]?.context.map((entry) => entry.key).join('.') ?? ''
    throw new Error(`the stored value does not match ${codec.name} at "${where}"`)
  }
  return decoded.right
}
