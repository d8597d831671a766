import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'

/** What a bounded codec checks, for whoever explains a refusal or describes the codec. */
export type Bounds =
  | { readonly kind: 'number' | 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'string'; readonly min: number; readonly max: number; readonly pattern?: RegExp }

export type Bounded<A> = t.Type<A> & { readonly bounds: Bounds }

/** Finite number between bounds; io-ts' own `t.number` lets NaN and Infinity (JSON `1e999`) through. */
export const boundedNumber = (min: number, max: number): Bounded<number> => {
  const is = (u: unknown): u is number => typeof u === 'number' && Number.isFinite(u) && u >= min && u <= max
  const codec = new t.Type<number>(`number from ${min} to ${max}`, is, (u, c) => (is(u) ? t.success(u) : t.failure(u, c)), t.identity)
  return Object.assign(codec, { bounds: { kind: 'number' as const, min, max } })
}

/** Integer between bounds. */
export const boundedInteger = (min: number, max: number): Bounded<number> => {
  const is = (u: unknown): u is number => typeof u === 'number' && Number.isInteger(u) && u >= min && u <= max
  const codec = new t.Type<number>(`integer from ${min} to ${max}`, is, (u, c) => (is(u) ? t.success(u) : t.failure(u, c)), t.identity)
  return Object.assign(codec, { bounds: { kind: 'integer' as const, min, max } })
}

/** String whose length in UTF-16 units lies between bounds and which matches `pattern` when one is given. */
export const boundedString = (min: number, max: number, pattern?: RegExp): Bounded<string> => {
  const is = (u: unknown): u is string =>
    typeof u === 'string' && u.length >= min && u.length <= max && (pattern === undefined || pattern.test(u))
  const name = `string of ${min} to ${max} characters${pattern === undefined ? '' : ` matching ${pattern.source}`}`
  const codec = new t.Type<string>(name, is, (u, c) => (is(u) ? t.success(u) : t.failure(u, c)), t.identity)
  return Object.assign(codec, { bounds: { kind: 'string' as const, min, max, ...(pattern === undefined ? {} : { pattern }) } })
}

/** Positive integer id of a resource. */
export const id = boundedInteger(1, Number.MAX_SAFE_INTEGER)

/** Instant in D23's form: `YYYY-MM-DDTHH:MM:SS.ffffff+00:00`. */
export const instant = boundedString(32, 32, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/)

/** Object with exactly the given required and optional members: unknown ones are stripped. */
export const object = <R extends t.Props, O extends t.Props = Record<never, never>>(required: R, optional?: O, name?: string) =>
  t.exact(t.intersection([t.type(required), t.partial(optional ?? ({} as O))]), name)

/** Throws on a value that does not fit: for data of our own, where a misfit is a defect. */
export const decodeOrThrow = <A>(codec: t.Decoder<unknown, A>, value: unknown): A => {
  const decoded = codec.decode(value)
  if (E.isLeft(decoded)) {
    const where = decoded.left[0]?.context.map((entry) => entry.key).join('.') ?? ''
    throw new Error(`stored value does not fit ${codec.name} at "${where}"`)
  }
  return decoded.right
}
