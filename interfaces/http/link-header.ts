import * as t from 'io-ts'

const listBody = t.type({ pagination: t.type({ total_items: t.number, per_page: t.number }) })
const listQuery = t.intersection([t.type({ skip: t.number }), t.UnknownRecord])

/** Where the list was asked for: the address as clients know it, without query. */
export interface ListAddress {
  /** WebSocket address of the service, '' when nobody knows it (D22); links are then relative to the host. */
  readonly webSocketBase: string
  /** Under which the request came (D1). */
  readonly prefix: string
  /** Of the request, behind the prefix. */
  readonly path: string
}

/** The same for every form of an address, as all of an answer is (R2). */
const locationOf = ({ webSocketBase, prefix, path }: ListAddress): string =>
  `${webSocketBase === '' ? prefix : webSocketBase.replace(/^ws/, 'http')}${path.replace(/\/$/, '')}`

/** Only what the route has understood: unknown parameters, which may hold secrets, are never echoed (R5). */
const queryOf = (understood: Readonly<Record<string, unknown>>, skip: number, limit: number): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(understood)) {
    if (name === 'skip' || name === 'limit') continue
    const values: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
    for (const one of values) if (typeof one === 'string' || typeof one === 'number') query.append(name, String(one))
  }
  query.append('skip', String(skip))
  query.append('limit', String(limit))
  return query.toString()
}

/**
 * The `Link` header (RFC 8288) of a page of a list: first, prev, next and last, as far as there are such pages. Null for
 * a body that is no list, and for an empty one.
 */
export const linkHeader = (address: ListAddress, understood: unknown, body: unknown): string | null => {
  if (!listBody.is(body) || !listQuery.is(understood)) return null
  const { total_items: total, per_page: limit } = body.pagination
  if (total === 0) return null
  const { skip } = understood
  const last = Math.floor((total - 1) / limit) * limit
  const pages: ReadonlyArray<readonly [string, number, boolean]> = [
    ['first', 0, true],
    ['prev', Math.min(Math.max(0, skip - limit), last), skip > 0],
    ['next', skip + limit, skip + limit < total],
    ['last', last, true],
  ]
  const location = locationOf(address)
  return pages
    .flatMap(([relation, from, exists]) => (exists ? [`<${location}?${queryOf(understood, from, limit)}>; rel="${relation}"`] : []))
    .join(', ')
}
