import * as t from 'io-ts'
import { codePointsOf } from '../../../domain/shared/code-points.ts'
import type { Bounds } from '../../../domain/shared/codecs.ts'

/** One error of a request, in the format of FastAPI. It never contains the submitted value, which may be a secret. */
export interface Issue {
  readonly type: string
  readonly loc: ReadonlyArray<string | number>
  readonly msg: string
}

/** A codec with its own error message for an invalid value. */
export interface Explained {
  readonly explain: (value: unknown) => Omit<Issue, 'loc'>
}

export const outOfRange = (value: number, min: number, max: number): Omit<Issue, 'loc'> =>
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
  const length = codePointsOf(value)
  if (length < bounds.min)
    return { type: 'string_too_short', msg: `String should have at least ${bounds.min} characters` }
  if (length > bounds.max)
    return { type: 'string_too_long', msg: `String should have at most ${bounds.max} characters` }
  return { type: 'string_pattern_mismatch', msg: `String should match pattern '${bounds.pattern?.source ?? ''}'` }
}

const explainBounds = (bounds: Bounds, value: unknown): Omit<Issue, 'loc'> =>
  bounds.kind === 'string' ? explainString(bounds, value) : explainNumber(bounds, value)

const listed = (values: ReadonlyArray<string>): string =>
  values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1) ?? ''}`

const isList = (codec: unknown): boolean => codec instanceof t.ReadonlyArrayType || codec instanceof t.ArrayType

type Explainable = t.Decoder<unknown, unknown> & Partial<Explained> & { readonly bounds?: Bounds }

/** Returns the error type and message for a value that `codec` refused. */
const explain = (codec: Explainable, value: unknown): Omit<Issue, 'loc'> => {
  if (codec.explain !== undefined) return codec.explain(value)
  if (codec.bounds !== undefined) return explainBounds(codec.bounds, value)
  if (codec instanceof t.BooleanType) return { type: 'bool_type', msg: 'Input should be a valid boolean' }
  if (codec instanceof t.StringType) return { type: 'string_type', msg: 'Input should be a valid string' }
  if (codec instanceof t.KeyofType) {
    const keys = Object.keys(codec.keys as object).map((key) => `'${key}'`)
    return { type: 'enum', msg: `Input should be ${listed(keys)}` }
  }
  if (isList(codec)) return { type: 'list_type', msg: 'Input should be a valid list' }
  return { type: 'dict_type', msg: 'Input should be a valid dictionary' }
}

const location = (context: t.Context): ReadonlyArray<string | number> =>
  context.slice(1).map((entry, index) => {
    const parent = context[index]?.type
    return isList(parent) ? Number(entry.key) : entry.key
  })

/** Converts an io-ts error in one part of a request. */
export const issueOf = (part: string, error: t.ValidationError): Issue => {
  const loc = [part, ...location(error.context)]
  if (error.message !== undefined) return { type: 'value_error', loc, msg: `Value error, ${error.message}` }
  if (error.value === undefined) return { type: 'missing', loc, msg: 'Field required' }
  const codec = error.context.at(-1)?.type
  const { type, msg } = codec === undefined ? { type: 'value_error', msg: 'Value error' } : explain(codec, error.value)
  return { type, loc, msg }
}

/** The issues of a body that cannot be decoded. */
const ofBody = (type: string, msg: string): Issue => ({ type, loc: ['body'], msg })
export const JSON_INVALID = ofBody('json_invalid', 'JSON decode error')
export const JSON_TOO_DEEP = ofBody('json_invalid', 'JSON should have at most 32 levels')
export const NOT_UTF8 = ofBody('string_unicode', 'Body should be valid UTF-8')
export const NOT_DECOMPRESSED =
  ofBody('value_error', 'Value error, body should have the length and the encoding that its headers name')

/** The issue of a missing form field when the body is not a form. */
export const formRequired = (issue: Issue): Issue =>
  ({ ...issue, msg: 'Field required in a form: Content-Type should be application/x-www-form-urlencoded' })
