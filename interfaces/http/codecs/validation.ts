import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { Bounds } from '../../../domain/shared/codecs.ts'
import { shaped } from './shapes.ts'
import type { JsonSchema } from './shapes.ts'

/** One complaint about a request, in FastAPI's manner. It never holds what was submitted (D13). */
export interface Issue {
  readonly type: string
  readonly loc: ReadonlyArray<string | number>
  readonly msg: string
}

/** A decoder of request input: no type parameter for its encoded form, requests are only read. */
export type Field<A> = t.Type<A, unknown>

/** What a decoder of query or path text says about a value that does not fit. */
interface Explained {
  readonly explain: (value: unknown) => Omit<Issue, 'loc'>
}

const MAX_ISSUES = 20

/** Decodes with `codec` in place of the wrapper that stands in the context, so that errors are explained by it. */
const delegate = <A>(codec: Field<A>, value: unknown, context: t.Context): t.Validation<A> => {
  const last = context.at(-1)
  return codec.validate(value, last === undefined ? context : [...context.slice(0, -1), { ...last, type: codec }])
}

/** A member that may be left out; `null` counts as left out (D18). */
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

/** A member that may be left out, where `null` is a value like any other: of a change, in which what is left out stays. */
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

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> => typeof u === 'object' && u !== null && !Array.isArray(u)

/** An object read member by member; unknown members are ignored (D3), inherited ones are not members. */
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

/** What a rule between members complains about: the member, and why; without a message it is missing there. */
export interface Complaint {
  readonly at: string
  readonly message?: string
}

/** `codec` and a rule about what it decoded. */
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

/** A string for which `complaint` gives no message; `schema` tells as much of that as a JSON Schema can. */
export const checkedString = (name: string, schema: JsonSchema, complaint: (value: string) => string | null): Field<string> =>
  shaped(
    new t.Type<string, unknown>(
      name,
      (u): u is string => typeof u === 'string' && complaint(u) === null,
      (u, context) => {
        if (typeof u !== 'string') return delegate(t.string, u, context)
        const message = complaint(u)
        return message === null ? t.success(u) : t.failure(u, context, message)
      },
      t.identity,
    ),
    { kind: 'schema', schema: { type: 'string', ...schema } },
  )

/** An integer written as text, as paths and queries hold it. */
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
    if (value === null) return { type: 'int_parsing', msg: 'Input should be a valid integer, unable to parse string as an integer' }
    return outOfRange(value, min, max)
  }
  const bounds = { ...(Number.isFinite(min) ? { minimum: min } : {}), ...(Number.isFinite(max) ? { maximum: max } : {}) }
  return shaped(Object.assign(codec, { explain }), { kind: 'schema', schema: { type: 'integer', ...bounds } })
}

/** A list of at most so many items. */
export const listOf = <A>(codec: Field<A>, most: number): Field<ReadonlyArray<A>> => {
  const items = t.readonlyArray(codec)
  const isTooLong = (u: unknown): boolean => Array.isArray(u) && u.length > most
  const list = new t.Type(items.name, (u): u is ReadonlyArray<A> => items.is(u) && !isTooLong(u),
    (u, context) => (isTooLong(u) ? t.failure(u, context) : delegate(items, u, context)), t.identity)
  const explain = () => ({ type: 'too_long', msg: `List should have at most ${most} items` })
  return shaped(Object.assign(list, { explain }), { kind: 'list', codec, most })
}

/** A query parameter: where it is repeated the last one counts. */
export const single = <A>(codec: Field<A>): Field<A> =>
  shaped(
    new t.Type<A, unknown>(
      codec.name,
      codec.is,
      (u, context) => delegate(codec, Array.isArray(u) ? (u.at(-1) as unknown) : u, context),
      t.identity,
    ),
    { kind: 'like', codec },
  )

/** A query parameter that may be repeated; all values must fit, none is fine. */
export const repeated = <A>(codec: Field<A>): Field<ReadonlyArray<A>> =>
  shaped(
    new t.Type<ReadonlyArray<A>, unknown>(
      codec.name,
      (u): u is ReadonlyArray<A> => Array.isArray(u) && u.every(codec.is),
      (u, context) => {
        const values: ReadonlyArray<unknown> = Array.isArray(u) ? u : []
        const misfit = values.find((value) => E.isLeft(codec.decode(value)))
        if (misfit !== undefined) return delegate(codec, misfit, context) as E.Left<t.Errors>
        return t.success(values.flatMap((value) => (codec.is(value) ? [value] : [])))
      },
      t.identity,
    ),
    { kind: 'list', codec },
  )

const outOfRange = (value: number, min: number, max: number): Omit<Issue, 'loc'> =>
  value < min
    ? { type: 'greater_than_equal', msg: `Input should be greater than or equal to ${min}` }
    : { type: 'less_than_equal', msg: `Input should be less than or equal to ${max}` }

type StringBounds = Extract<Bounds, { readonly kind: 'string' }>
type NumberBounds = Exclude<Bounds, StringBounds>

const explainNumber = (bounds: NumberBounds, value: unknown): Omit<Issue, 'loc'> => {
  if (typeof value !== 'number')
    return bounds.kind === 'integer'
      ? { type: 'int_type', msg: 'Input should be a valid integer' }
      : { type: 'float_type', msg: 'Input should be a valid number' }
  if (!Number.isFinite(value)) return { type: 'finite_number', msg: 'Input should be a finite number' }
  if (bounds.kind === 'integer' && !Number.isInteger(value))
    return { type: 'int_from_float', msg: 'Input should be a valid integer, got a number with a fractional part' }
  return outOfRange(value, bounds.min, bounds.max)
}

const explainString = (bounds: StringBounds, value: unknown): Omit<Issue, 'loc'> => {
  if (typeof value !== 'string') return { type: 'string_type', msg: 'Input should be a valid string' }
  if (value.length < bounds.min) return { type: 'string_too_short', msg: `String should have at least ${bounds.min} characters` }
  if (value.length > bounds.max) return { type: 'string_too_long', msg: `String should have at most ${bounds.max} characters` }
  return { type: 'string_pattern_mismatch', msg: `String should match pattern '${bounds.pattern?.source ?? ''}'` }
}

const explainBounds = (bounds: Bounds, value: unknown): Omit<Issue, 'loc'> =>
  bounds.kind === 'string' ? explainString(bounds, value) : explainNumber(bounds, value)

const listed = (values: ReadonlyArray<string>): string =>
  values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1) ?? ''}`

const isList = (codec: unknown): boolean => codec instanceof t.ReadonlyArrayType || codec instanceof t.ArrayType

type Explainable = t.Decoder<unknown, unknown> & Partial<Explained> & { readonly bounds?: Bounds }

/** The complaint that fits the codec that refused `value`. */
const explain = (codec: Explainable, value: unknown): Omit<Issue, 'loc'> => {
  if (codec.explain !== undefined) return codec.explain(value)
  if (codec.bounds !== undefined) return explainBounds(codec.bounds, value)
  if (codec instanceof t.BooleanType) return { type: 'bool_type', msg: 'Input should be a valid boolean' }
  if (codec instanceof t.StringType) return { type: 'string_type', msg: 'Input should be a valid string' }
  if (codec instanceof t.KeyofType)
    return { type: 'enum', msg: `Input should be ${listed(Object.keys(codec.keys as object).map((key) => `'${key}'`))}` }
  if (isList(codec)) return { type: 'list_type', msg: 'Input should be a valid list' }
  return { type: 'dict_type', msg: 'Input should be a valid dictionary' }
}

const location = (context: t.Context): ReadonlyArray<string | number> =>
  context.slice(1).map((entry, index) => {
    const parent = context[index]?.type
    return isList(parent) ? Number(entry.key) : entry.key
  })

const issueOf = (part: string, error: t.ValidationError): Issue => {
  const loc = [part, ...location(error.context)]
  if (error.message !== undefined) return { type: 'value_error', loc, msg: `Value error, ${error.message}` }
  if (error.value === undefined) return { type: 'missing', loc, msg: 'Field required' }
  const codec = error.context.at(-1)?.type
  const { type, msg } = codec === undefined ? { type: 'value_error', msg: 'Value error' } : explain(codec, error.value)
  return { type, loc, msg }
}

/** Reads one part of a request; at most 20 issues are told. */
export const decodePart = <A>(part: 'path' | 'query' | 'header' | 'body', codec: Field<A>, value: unknown): E.Either<ReadonlyArray<Issue>, A> => {
  const decoded = codec.decode(value)
  return E.isLeft(decoded) ? E.left(decoded.left.slice(0, MAX_ISSUES).map((error) => issueOf(part, error))) : decoded
}

export const JSON_INVALID: Issue = { type: 'json_invalid', loc: ['body'], msg: 'JSON decode error' }
