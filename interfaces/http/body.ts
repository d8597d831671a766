import { isUtf8 } from 'node:buffer'
import { MIMEType } from 'node:util'
import * as E from 'fp-ts/lib/Either.js'
import type { Context } from 'koa'
import bodyParser from 'koa-bodyparser'
import { parseJson } from '../../domain/shared/parse-json.ts'
import { formRequired, type Issue, JSON_INVALID, JSON_TOO_DEEP, NOT_DECOMPRESSED, NOT_UTF8 } from './codecs/issues.ts'
import { decodePart } from './codecs/validation.ts'
import { hasBody } from './connections/request-target.ts'
import type { TransportRefusal } from './errors.ts'
import type { Route } from './route.ts'

/** Maximum depth of nested objects and lists in a body. */
const MAX_DEPTH = 32

const isDeeperThan = (value: unknown, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1))
}

const TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' } as const

/** A content type whose parameters can be parsed (RFC 9110, 8.3.1). A malformed one could hide the charset. */
const PARSABLE = /^[^;]*(?:;[ \t]*(?:[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"(?:[^"\\]|\\.)*")[ \t]*)?)*$/

/**
 * Reads and decompresses a body, but does not decode it: the parsers for JSON and forms replace invalid UTF-8 silently.
 * `encoding` is missing in the types of koa-bodyparser. With null, the body is a Buffer.
 */
const readerOf = (type: string, textLimit: string) => {
  const undecoded = { encoding: null }
  return bodyParser({ enableTypes: ['text'], extendTypes: { text: [type] }, textLimit, ...undecoded })
}

const readers = { json: readerOf(TYPES.json, '64kb'), form: readerOf(TYPES.form, '8kb') }

const invalid = (issue: Issue) => E.left({ _tag: 'InvalidRequest', issues: [issue] } as const)

const refusalOf = (error: unknown): E.Either<TransportRefusal, never> => {
  const status = error instanceof Error && 'status' in error ? error.status : undefined
  if (status === 413) return E.left({ _tag: 'BodyTooLarge' })
  // All other errors mean a wrong length or a wrong compression.
  return status === 415 ? E.left({ _tag: 'ContentEncodingNotSupported' }) : invalid(NOT_DECOMPRESSED)
}

const decodeJson = (text: string): E.Either<TransportRefusal, unknown> => {
  const body = parseJson(text)
  if (body === undefined) return invalid(JSON_INVALID)
  return isDeeperThan(body, MAX_DEPTH) ? invalid(JSON_TOO_DEEP) : E.right(body)
}

/** Escapes that belong together. A percent sign that escapes nothing stands for itself. */
const ESCAPES = /(?:%[\da-f]{2})+/gi

/** The value of a repeated name is a list, which no field accepts. */
const decodeForm = (text: string): E.Either<TransportRefusal, unknown> => {
  const bytes = Array.from(text.matchAll(ESCAPES), ([escapes]) => Buffer.from(escapes.replaceAll('%', ''), 'hex'))
  if (!bytes.every(isUtf8)) return invalid(NOT_UTF8)
  const fields = Map.groupBy(new URLSearchParams(text), ([name]) => name)
  return E.right(Object.fromEntries(Array.from(fields, ([name, pairs]) => {
    const values = pairs.map(([, value]) => value)
    return [name, values.length > 1 ? values : values[0]]
  })))
}

/**
 * Reads at most 64 KiB of JSON or 8 KiB of form, in UTF-8. A missing body reads as `{}`. A JSON route refuses another
 * content type, because `{}` is valid for some JSON routes. A form route answers another content type as if the fields
 * were missing.
 */
export const readBody = async (
  ctx: Context,
  { kind, codec }: NonNullable<Route['body']>,
): Promise<E.Either<TransportRefusal, unknown>> => {
  if (!hasBody(ctx)) return E.right({})
  const { headers } = ctx.req
  const { 'content-type': type = '', 'content-encoding': coding } = headers
  if (ctx.request.is(TYPES[kind]) === false || !PARSABLE.test(type)) {
    if (kind === 'json') return E.left({ _tag: 'MediaTypeNotSupported' })
    return E.mapLeft((issues: ReadonlyArray<Issue>) =>
      ({ _tag: 'InvalidRequest' as const, issues: issues.map(formRequired) }))(decodePart('body', codec, {}))
  }
  const charset = new MIMEType(type).params.get('charset') ?? 'utf-8'
  if (!['utf-8', 'utf8'].includes(charset.toLowerCase())) return E.left({ _tag: 'CharsetNotSupported' })
  // The reader knows only the lower-case names of codings.
  if (coding !== undefined) headers['content-encoding'] = coding.toLowerCase()
  try {
    await readers[kind](ctx, async () => {})
  } catch (error) {
    return refusalOf(error)
  }
  const bytes = ctx.request.body as Buffer
  if (bytes.length === 0) return E.right({})
  if (!isUtf8(bytes)) return invalid(NOT_UTF8)
  const text = bytes.toString()
  return kind === 'json' ? decodeJson(text) : decodeForm(text)
}
