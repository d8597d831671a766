import * as E from 'fp-ts/lib/Either.js'
import type { Context } from 'koa'
import bodyParser from 'koa-bodyparser'
import type { TransportRefusal } from './errors.ts'
import { JSON_INVALID } from './codecs/issues.ts'

/** Maximum depth of nested objects and lists in a body. */
const MAX_DEPTH = 32

const isDeeperThan = (value: unknown, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1))
}

/** The parser would also accept other JSON types, such as JSON Patch. */
const JSON_TYPES = ['application/json']
/** `onProtoPoisoning` is missing in the types of koa-bodyparser. It drops members named `__proto__`. */
const jsonOptions = { enableTypes: ['json'], jsonLimit: '64kb', strict: true, onProtoPoisoning: 'remove' }
/** Forms are flat: `a.b` and `a[b]` are plain names. */
const formOptions = {
  enableTypes: ['form'],
  formLimit: '8kb',
  queryString: { allowDots: false, depth: 0, parameterLimit: 100 },
}

const parsers = { json: bodyParser({ ...jsonOptions }), form: bodyParser({ ...formOptions }) }

const isTooLarge = (error: unknown): boolean => error instanceof Error && 'status' in error && error.status === 413

const INVALID = E.left({ _tag: 'InvalidRequest', issues: [JSON_INVALID] } as const)

const hasBody = ({ headers }: Context): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * Reads at most 64 KiB of JSON or 8 KiB of form. A missing body reads as `{}`. A JSON route refuses another content
 * type, because `{}` is valid for some JSON routes. A form route reads another content type as `{}`, and the decoder
 * then reports the missing members.
 */
export const readBody = async (ctx: Context, kind: 'json' | 'form'): Promise<E.Either<TransportRefusal, unknown>> => {
  if (kind === 'json' && hasBody(ctx) && ctx.request.is(...JSON_TYPES) === false)
    return E.left({ _tag: 'MediaTypeNotSupported' })
  try {
    await parsers[kind](ctx, async () => {})
  } catch (error) {
    // All other parser errors mean a bad body: wrong syntax, length, encoding or compression.
    return isTooLarge(error) ? E.left({ _tag: 'BodyTooLarge' }) : INVALID
  }
  const body: unknown = ctx.request.body
  return isDeeperThan(body, MAX_DEPTH) ? INVALID : E.right(body)
}
