import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { Caller } from '../../application/caller.ts'
import type { RequestFacts } from './clients/request-facts.ts'
import type { HttpRefusal, RefusalTag } from './errors.ts'
import { decodePart, type Field, MAX_ISSUES, members } from './codecs/validation.ts'
import { memberNames } from './codecs/shapes.ts'
import { valuesIn } from './query.ts'

/**
 * Who may call a route. `public`: everyone. `private`: a user with a login token or an API token. `login`: a user
 * with a login token. `admin`: a user with a login token and the permission `admin`.
 */
export type Access = 'public' | 'private' | 'login' | 'admin'

/** A request before decoding. */
export interface RawRequest {
  readonly params: Readonly<Record<string, unknown>>
  /** The text after `?`. */
  readonly query: string
  /** Names are lower case. */
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
}

interface ResponseSpec<A> {
  readonly codec: t.Type<A, unknown>
  /** Codecs by status, for a route with several success statuses. */
  readonly byStatus?: Readonly<Record<number, t.Mixed>>
  /** Set for a route whose body is text. The default is JSON. */
  readonly mediaType?: string
  /** Media types that a request may choose instead of JSON. The handler then returns a `textFile`. */
  readonly textTypes?: ReadonlyArray<string>
  readonly headers?: Readonly<Record<string, string>>
  /** A file of a page. It is equal for every request, so it is sent compressed and with an ETag. */
  readonly isFile?: boolean
  /** A page that the origins in FRAME_ANCESTORS may show in a frame. */
  readonly isFramable?: boolean
}

/** A text response with one of the route's `textTypes`, instead of JSON. */
export const textFile = t.strict({ mediaType: t.string, text: t.string }, 'TextFile')

/** The part of a route in OpenAPI. A route without it, such as a file of a page, is not in OpenAPI. */
interface Documented {
  readonly operationId?: string
  readonly summary?: string
}

interface ForOperator {
  /**
   * How the operator may use a route for users, through the socket in the data directory: as the user in the header
   * X-On-Behalf-Of, or for the resources of every user. If it is absent, the operator may not use the route.
   */
  readonly operator?: 'as-named-user' | 'for-any-user'
}

interface RouteSpec<P, Q, B, A, T extends RefusalTag, H = unknown> extends Documented, ForOperator {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Without prefix and trailing slash. Parameters are written `:id`. */
  readonly path: string
  readonly params?: Field<P>
  readonly query?: Field<Q>
  /** Names are lower case. */
  readonly headers?: Field<H>
  readonly body?: { readonly kind: 'json' | 'form'; readonly codec: Field<B> }
  readonly response: ResponseSpec<A>
  /** Refusals of the handler. Access and decoding add their own. */
  readonly refusals: ReadonlyArray<T>
  /** The default is 200. */
  readonly status?: (value: A) => number
  /** False: the daily budget never refuses the request. The default is true for POST and PUT. */
  readonly isBudgeted?: false
}

interface HandlerInput<P, Q, B, C, H = unknown> {
  readonly params: P
  readonly query: Q
  readonly headers: H
  readonly body: B
  readonly caller: C
  readonly facts: RequestFacts
}

type HandlerResult<A, T extends RefusalTag> = Promise<E.Either<Extract<HttpRefusal, { readonly _tag: T }>, A>>

export interface Answer {
  readonly status: number
  readonly body: unknown
  /** Set when the request chose a text response. */
  readonly mediaType?: string
  /** The decoded query of a GET request, for the `Link` header of a list. */
  readonly listQuery?: unknown
}

type Run<D> =
  (raw: RawRequest, caller: Caller | null, facts: RequestFacts, deps: D) => Promise<E.Either<HttpRefusal, Answer>>

/** A route with its data for routing, validation and OpenAPI. `D` are the use cases that its handler calls. */
export interface Route<D = never> extends Documented, ForOperator {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly access: Access
  readonly params?: t.Mixed
  readonly query?: t.Mixed
  readonly headers?: t.Mixed
  readonly body?: { readonly kind: 'json' | 'form'; readonly codec: t.Mixed }
  readonly response: Omit<ResponseSpec<unknown>, 'codec'> & { readonly codec: t.Mixed }
  readonly refusals: ReadonlyArray<RefusalTag>
  readonly isBudgeted?: false
  /** Decodes the request, then calls the handler. */
  readonly run: Run<D>
}

/**
 * True for a request of a user that counts for the daily budget. A user without budget can still end and remove things,
 * and protect the account, so these requests do not count.
 */
export const usesBudget = ({ method, access, isBudgeted }: Pick<Route, 'method' | 'access' | 'isBudgeted'>): boolean =>
  (method === 'POST' || method === 'PUT') && access !== 'public' && isBudgeted !== false

const NO_MEMBERS: t.Mixed = members({})

interface Decoded<P, Q, B, H> {
  readonly params: P
  readonly query: Q
  readonly headers: H
  readonly body: B
}

const decodeRequest = <P, Q, B, A, T extends RefusalTag, H>(
  spec: RouteSpec<P, Q, B, A, T, H>,
  raw: RawRequest,
): E.Either<HttpRefusal, Decoded<P, Q, B, H>> => {
  const params = decodePart('path', spec.params ?? NO_MEMBERS, raw.params)
  const queryCodec = spec.query ?? NO_MEMBERS
  const query = decodePart('query', queryCodec, valuesIn(raw.query, memberNames(queryCodec)))
  const headers = decodePart('header', spec.headers ?? NO_MEMBERS, raw.headers)
  const body = decodePart('body', spec.body?.codec ?? NO_MEMBERS, spec.body === undefined ? {} : raw.body)
  if (E.isRight(params) && E.isRight(query) && E.isRight(headers) && E.isRight(body))
    return E.right({ params: params.right, query: query.right, headers: headers.right, body: body.right })
  const issues = [params, query, headers, body].flatMap((part) => (E.isLeft(part) ? part.left : []))
  return E.left({ _tag: 'InvalidRequest', issues: issues.slice(0, MAX_ISSUES) })
}

const answerOf = <P, Q, B, A, T extends RefusalTag, H>(
  spec: RouteSpec<P, Q, B, A, T, H>,
  request: Decoded<P, Q, B, H>,
  result: E.Either<HttpRefusal, A>,
): E.Either<HttpRefusal, Answer> => {
  if (E.isLeft(result)) return result
  const status = spec.status?.(result.right) ?? 200
  const value: unknown = result.right
  if (spec.response.textTypes !== undefined && textFile.is(value))
    return E.right({ status, body: value.text, mediaType: value.mediaType })
  return E.right({ status, body: value, ...(spec.method === 'GET' && { listQuery: request.query }) })
}

/** Creates a route that needs no credentials and ignores them. */
export const publicRoute = <
  A, T extends RefusalTag = never, P = unknown, Q = unknown, B = unknown, H = unknown, D = unknown,
>(
  spec: RouteSpec<P, Q, B, A, T, H>,
  handler: (input: HandlerInput<P, Q, B, null, H>, deps: D) => HandlerResult<A, NoInfer<T>>,
): Route<D> => {
  const run: Run<D> = async (raw, _caller, facts, deps) => {
    const request = decodeRequest(spec, raw)
    if (E.isLeft(request)) return request
    return answerOf(spec, request.right, await handler({ ...request.right, caller: null, facts }, deps))
  }
  return { ...spec, access: 'public', run }
}

/** Creates a route that needs credentials. They are checked before the request is decoded. */
export const privateRoute = <
  A, T extends RefusalTag = never, P = unknown, Q = unknown, B = unknown, H = unknown, D = unknown,
>(
  access: Exclude<Access, 'public'>,
  spec: RouteSpec<P, Q, B, A, T, H>,
  handler: (input: HandlerInput<P, Q, B, Caller, H>, deps: D) => HandlerResult<A, NoInfer<T>>,
): Route<D> => {
  const run: Run<D> = async (raw, caller, facts, deps) => {
    if (caller === null) return E.left({ _tag: 'NotAuthenticated' })
    const request = decodeRequest(spec, raw)
    if (E.isLeft(request)) return request
    return answerOf(spec, request.right, await handler({ ...request.right, caller, facts }, deps))
  }
  return { ...spec, access, run }
}
