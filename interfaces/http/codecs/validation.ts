import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedString } from '../../../domain/shared/codecs.ts'
import { MAX_VALUES } from '../query.ts'
import { type Explained, type Issue, issueOf, outOfRange } from './issues.ts'
import { type JsonSchema, shaped } from './shapes.ts'

/** A decoder of request input. Requests are only read, so the encoded type is unknown. */
export type Field<A> = t.Type<A, unknown>

/** Maximum number of issues in one response. */
export const MAX_ISSUES = 20

/** Decodes with the wrapped `codec`. Errors name `codec` instead of its wrapper, so their messages fit `codec`. */
const delegate = <A>(codec: Field<A>, value: unknown, context: t.Context): t.Validation<A> => {
  const last = context.at(-1)
  return codec.validate(value, last === undefined ? context : [...context.slice(0, -1), { ...last, type: codec }])
}

/** A member that may be left out. `null` counts as left out. */
export const optional = <A, F>(codec: Field<A>, fallback: F): Field<A | F> =>
  shaped(
    new t.Type<A | F, unknown>(
      `${codec.name} or nothing`,
      (u): u is A | F => u === fallback || codec.is(u),
      (u, context) => (u === undefined || u === null ? t.success(fallback) : delegate(codec, u, context)),
      t.identity,
    ),
    { kind: 'optional', codec, fallback, nullable: true },
  )

/** A member of a partial update. A member that is left out stays as it is, and `null` is an ordinary value. */
export const omittable = <A>(codec: Field<A>): Field<A | undefined> =>
  shaped(
    new t.Type<A | undefined, unknown>(
      `${codec.name} or left out`,
      (u): u is A | undefined => u === undefined || codec.is(u),
      (u, context) => (u === undefined ? t.success(undefined) : delegate(codec, u, context)),
      t.identity,
    ),
    { kind: 'optional', codec, fallback: undefined, nullable: false },
  )

type Decoded<P extends t.Props> = { readonly [K in keyof P]: t.TypeOf<P[K]> }

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === 'object' && u !== null && !Array.isArray(u)

/** An object. Unknown members are ignored, and inherited properties do not count as members. */
export const members = <P extends t.Props>(props: P): Field<Decoded<P>> =>
  shaped(
    new t.Type<Decoded<P>, unknown>(
      'object',
      (u): u is Decoded<P> => isRecord(u) && Object.entries(props).every(([name, codec]) => codec.is(u[name])),
      (u, context) => {
        if (!isRecord(u)) return t.failure(u, context)
        const results = Object.entries(props).map(([name, codec]) => {
          const value = Object.hasOwn(u, name) ? u[name] : undefined
          return [name, codec.validate(value, t.appendContext(context, name, codec, value))] as const
        })
        const errors = results.flatMap(([, result]) => (E.isLeft(result) ? result.left : []))
        if (errors.length > 0) return t.failures(errors)
        const values = results.flatMap(([name, result]) => (E.isRight(result) ? [[name, result.right] as const] : []))
        return t.success(Object.fromEntries(values) as Decoded<P>)
      },
      t.identity,
    ),
    { kind: 'object', members: props },
  )

/** An error of a rule between members: `at` names the member. Without `message`, the error is that it is missing. */
export interface Complaint {
  readonly at: string
  readonly message?: string
}

/** Adds a rule about the decoded value to `codec`. */
export const refined = <A>(codec: Field<A>, rule: (value: A) => Complaint | null): Field<A> =>
  shaped(
    new t.Type<A, unknown>(
      codec.name,
      (u): u is A => codec.is(u) && rule(u) === null,
      (u, context) => {
        const decoded = delegate(codec, u, context)
        if (E.isLeft(decoded)) return decoded
        const complaint = rule(decoded.right)
        if (complaint === null) return decoded
        return t.failure(undefined, t.appendContext(context, complaint.at, codec), complaint.message)
      },
      t.identity,
    ),
    { kind: 'like', codec },
  )

/** A string with a rule: `problemOf` returns the message for an invalid string. `schema` is the rule for OpenAPI. */
export const checkedString = (
  name: string, schema: JsonSchema, problemOf: (value: string) => string | null,
): Field<string> =>
  shaped(
    new t.Type<string, unknown>(
      name,
      (u): u is string => typeof u === 'string' && problemOf(u) === null,
      (u, context) => {
        if (typeof u !== 'string') return delegate(t.string, u, context)
        const message = problemOf(u)
        return message === null ? t.success(u) : t.failure(u, context, message)
      },
      t.identity,
    ),
    { kind: 'schema', schema: { type: 'string', ...schema } },
  )

/** Any text of `min` to `max` code points, but without lone surrogates, which UTF-8 cannot represent. */
export const freeText = (min: number, max: number): Field<string> => boundedString(min, max, /^\P{Surrogate}*$/u)

/** Any text of a path or a header. Node refuses a longer head of a request. */
export const headerText = boundedString(0, 16_384)

/** An integer as text, for paths and queries. */
export const integerText = (min: number, max: number): Field<number> & Explained => {
  const parse = (u: unknown): number | null => (typeof u === 'string' && /^-?\d+$/.test(u) ? Number(u) : null)
  const codec = new t.Type<number, unknown>(
    `integer from ${min} to ${max} as text`,
    (u): u is number => typeof u === 'number' && u >= min && u <= max,
    (u, context) => {
      const value = parse(u)
      return value !== null && value >= min && value <= max ? t.success(value) : t.failure(u, context)
    },
    String,
  )
  const explain = (u: unknown): Omit<Issue, 'loc'> => {
    const value = parse(u)
    if (value !== null) return outOfRange(value, min, max)
    return { type: 'int_parsing', msg: 'Input should be a valid integer, unable to parse string as an integer' }
  }
  const bounds = { ...(Number.isFinite(min) && { minimum: min }), ...(Number.isFinite(max) && { maximum: max }) }
  return shaped(Object.assign(codec, { explain }), { kind: 'schema', schema: { type: 'integer', ...bounds } })
}

/** Refuses a list of more than `maxItems` before `items` reads it. */
const atMost = <A>(items: Field<ReadonlyArray<A>>, codec: Field<A>, maxItems: number): Field<ReadonlyArray<A>> => {
  const isTooLong = (u: unknown): boolean => Array.isArray(u) && u.length > maxItems
  const list = new t.Type(items.name, (u): u is ReadonlyArray<A> => !isTooLong(u) && items.is(u),
    (u, context) => (isTooLong(u) ? t.failure(u, context) : delegate(items, u, context)), t.identity)
  const explain = () => ({ type: 'too_long', msg: `List should have at most ${maxItems} items` })
  return shaped(Object.assign(list, { explain }), { kind: 'list', codec, maxItems })
}

export const listOf = <A>(codec: Field<A>, maxItems: number): Field<ReadonlyArray<A>> =>
  atMost(t.readonlyArray(codec), codec, maxItems)

/** A query parameter with one value. If it is repeated, the last value counts. */
export const lastValue = <A>(codec: Field<A>): Field<A> =>
  shaped(
    new t.Type<A, unknown>(
      codec.name,
      codec.is,
      (u, context) => delegate(codec, Array.isArray(u) ? (u.at(-1) as unknown) : u, context),
      t.identity,
    ),
    { kind: 'like', codec },
  )

/** A query parameter that may be left out, or repeated up to 20 times. Every value must be valid. */
export const repeated = <A>(codec: Field<A>): Field<ReadonlyArray<A>> => {
  const items = new t.Type<ReadonlyArray<A>, unknown>(
    codec.name,
    (u): u is ReadonlyArray<A> => Array.isArray(u) && u.every(codec.is),
    (u, context) => {
      const values: ReadonlyArray<unknown> = Array.isArray(u) ? u : []
      const invalid = values.find((value) => E.isLeft(codec.decode(value)))
      if (invalid !== undefined) return delegate(codec, invalid, context) as E.Left<t.Errors>
      return t.success(values.flatMap((value) => (codec.is(value) ? [value] : [])))
    },
    t.identity,
  )
  return atMost(items, codec, MAX_VALUES)
}

/** Decodes one part of a request. Left: at most 20 issues. */
export const decodePart = <A>(
  part: 'path' | 'query' | 'header' | 'body', codec: Field<A>, value: unknown,
): E.Either<ReadonlyArray<Issue>, A> => {
  const decoded = codec.decode(value)
  return E.isLeft(decoded) ? E.left(decoded.left.slice(0, MAX_ISSUES).map((error) => issueOf(part, error))) : decoded
}
