import * as E from 'fp-ts/lib/Either.js'
import type { Context } from 'koa'
import bodyParser from 'koa-bodyparser'
import type { TransportRefusal } from './errors.ts'
import { JSON_INVALID } from './codecs/validation.ts'

const MAX_DEPTH = 32

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' && value !== null && (levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1)))

/** Patches and the like are no JSON objects of ours, though the parser would take them. */
const JSON_TYPES = ['application/json']
/** Unknown to the types of koa-bodyparser: members named `__proto__` are dropped like any unknown member. */
const jsonOptions = { enableTypes: ['json'], jsonLimit: '64kb', strict: true, onProtoPoisoning: 'remove' }
/** Flat: `a.b` and `a[b]` are plain names. */
const formOptions = { enableTypes: ['form'], formLimit: '8kb', queryString: { allowDots: false, depth: 0, parameterLimit: 100 } }

const parsers = { json: bodyParser({ ...jsonOptions }), form: bodyParser({ ...formOptions }) }

const isTooLarge = (error: unknown): boolean => error instanceof Error && 'status' in error && error.status === 413

const INVALID = E.left({ _tag: 'InvalidRequest', issues: [JSON_INVALID] } as const)

/** Are bytes announced, or may some come? */
const hasBody = ({ headers }: Context): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * Reads a body of one kind: at most 64 KiB of JSON or 8 KiB of form. No body reads as `{}`. One of another type is
 * refused where JSON is asked for, since all members of some bodies may be left out; beside a form it reads as `{}`,
 * whose missing members are told.
 */
export const readBody = async (ctx: Context, kind: 'json' | 'form'): Promise<E.Either<TransportRefusal, unknown>> => {
  if (kind === 'json' && hasBody(ctx) && ctx.request.is(...JSON_TYPES) === false)
    return E.left({ _tag: 'MediaTypeNotSupported' })
  try {
    await parsers[kind](ctx, async () => {})
  } catch (error) {
    // Everything else that the parser refuses (syntax, a broken length, encoding or compression) is the body's fault.
    return isTooLarge(error) ? E.left({ _tag: 'BodyTooLarge' }) : INVALID
  }
  const body: unknown = ctx.request.body
  return isDeeper(body, MAX_DEPTH) ? INVALID : E.right(body)
}
