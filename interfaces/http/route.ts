import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { Caller } from '../../application/caller.ts'
import type { Origin } from './clients/origin.ts'
import type { HttpRefusal, RefusalTag } from './errors.ts'
import { decodePart, members } from './codecs/validation.ts'
import type { Field } from './codecs/validation.ts'

/** Who may call: anybody; a user; the same with a login token (an API key is 403); that and the permission `admin`. */
export type Access = 'public' | 'private' | 'login' | 'admin'

/** A request before it is decoded. */
export interface RawRequest {
  readonly params: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, ReadonlyArray<string>>>
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
}

interface ResponseSpec<A> {
  readonly codec: t.Type<A, unknown>
  /** Codecs of the answers of a route with several statuses. */
  readonly byStatus?: Readonly<Record<number, t.Mixed>>
  /** Sent as it is (a string) when this is set, else as JSON. */
  readonly mediaType?: string
  /** Media types that a request may choose instead of JSON: the handler then answers a `textFile`. */
  readonly texts?: ReadonlyArray<string>
  readonly headers?: Readonly<Record<string, string>>
  /** A file of a page: the same text for every request, so it is sent compressed and with an ETag. */
  readonly isFile?: boolean
  /** A page that others may show in a frame, as FRAME_ANCESTORS says; its policy comes from that setting. */
  readonly framable?: boolean
}

/** A text of one of the response's `texts`, in place of JSON. */
export const textFile = t.strict({ mediaType: t.string, text: t.string }, 'TextFile')

/** What the description of the interface says of a route; one without it (a file of a page) is no part of that. */
interface Documented {
  readonly operationId?: string
  readonly summary?: string
}

interface ForOperator {
  /**
   * What the operator may do of a route for users, through the socket in the data directory: act as the user whom the request
   * names, or on what belongs to any. Without it nothing.
   */
  readonly operator?: 'as-named-user' | 'for-any-user'
}

interface Spec<P, Q, B, A, T extends RefusalTag, H = unknown> extends Documented, ForOperator {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Without prefix and trailing slash: every served form is derived from it. Members are written `:id`. */
  readonly path: string
  readonly params?: Field<P>
  readonly query?: Field<Q>
  /** Named in lower case. */
  readonly headers?: Field<H>
  readonly body?: { readonly kind: 'json' | 'form'; readonly codec: Field<B> }
  readonly response: ResponseSpec<A>
  /** The refusals of the handler; those of access and of decoding come on top. */
  readonly refusals: ReadonlyArray<T>
  /** 200 unless given. */
  readonly status?: (value: A) => number
}

interface Input<P, Q, B, C, H = unknown> {
  readonly params: P
  readonly query: Q
  readonly headers: H
  readonly body: B
  readonly caller: C
  readonly origin: Origin
}

type Handled<A, T extends RefusalTag> = Promise<E.Either<Extract<HttpRefusal, { readonly _tag: T }>, A>>

export interface Answer {
  readonly status: number
  readonly body: unknown
  /** Of a body that is a text chosen by the request. */
  readonly mediaType?: string
  /** The query as it was understood; only with a list that was fetched, for its `Link` header. */
  readonly listQuery?: unknown
}

type Run<D> = (raw: RawRequest, caller: Caller | null, origin: Origin, deps: D) => Promise<E.Either<HttpRefusal, Answer>>

/** One line of the table of routes: all that routing, validation and a description of the interface need; `D` is what its handler calls. */
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
  /** Decodes, then asks the handler. */
  readonly run: Run<D>
}

const nothing: t.Mixed = members({})

interface Decoded<P, Q, B, H> {
  readonly params: P
  readonly query: Q
  readonly headers: H
  readonly body: B
}

const decodeRequest = <P, Q, B, A, T extends RefusalTag, H>(
  spec: Spec<P, Q, B, A, T, H>,
  raw: RawRequest,
): E.Either<HttpRefusal, Decoded<P, Q, B, H>> => {
  const params = decodePart('path', spec.params ?? nothing, raw.params)
  const query = decodePart('query', spec.query ?? nothing, raw.query)
  const headers = decodePart('header', spec.headers ?? nothing, raw.headers)
  const body = decodePart('body', spec.body?.codec ?? nothing, spec.body === undefined ? {} : raw.body)
  if (E.isRight(params) && E.isRight(query) && E.isRight(headers) && E.isRight(body))
    return E.right({ params: params.right, query: query.right, headers: headers.right, body: body.right })
  const issues = [params, query, headers, body].flatMap((part) => (E.isLeft(part) ? part.left : []))
  return E.left({ _tag: 'InvalidRequest', issues: issues.slice(0, 20) })
}

const answered = <P, Q, B, A, T extends RefusalTag, H>(
  spec: Spec<P, Q, B, A, T, H>,
  request: Decoded<P, Q, B, H>,
  result: E.Either<HttpRefusal, A>,
): E.Either<HttpRefusal, Answer> => {
  if (E.isLeft(result)) return result
  const status = spec.status?.(result.right) ?? 200
  const value: unknown = result.right
  if (spec.response.texts !== undefined && textFile.is(value)) return E.right({ status, body: value.text, mediaType: value.mediaType })
  return E.right({ status, body: value, ...(spec.method === 'GET' && { listQuery: request.query }) })
}

/** A route that needs no credentials; what is sent of them is ignored (R24). */
export const publicRoute = <A, T extends RefusalTag = never, P = unknown, Q = unknown, B = unknown, H = unknown, D = unknown>(
  spec: Spec<P, Q, B, A, T, H>,
  handler: (input: Input<P, Q, B, null, H>, deps: D) => Handled<A, NoInfer<T>>,
): Route<D> => {
  const run: Run<D> = async (raw, _caller, origin, deps) => {
    const request = decodeRequest(spec, raw)
    if (E.isLeft(request)) return request
    return answered(spec, request.right, await handler({ ...request.right, caller: null, origin }, deps))
  }
  return { ...spec, access: 'public', run }
}

/** A route for a known caller, asked before anything of the request is decoded (R25). */
export const privateRoute = <A, T extends RefusalTag = never, P = unknown, Q = unknown, B = unknown, H = unknown, D = unknown>(
  access: Exclude<Access, 'public'>,
  spec: Spec<P, Q, B, A, T, H>,
  handler: (input: Input<P, Q, B, Caller, H>, deps: D) => Handled<A, NoInfer<T>>,
): Route<D> => {
  const run: Run<D> = async (raw, caller, origin, deps) => {
    if (caller === null) return E.left({ _tag: 'NotAuthenticated' })
    const request = decodeRequest(spec, raw)
    if (E.isLeft(request)) return request
    return answered(spec, request.right, await handler({ ...request.right, caller, origin }, deps))
  }
  return { ...spec, access, run }
}
