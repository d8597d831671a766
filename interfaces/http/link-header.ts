import * as t from 'io-ts'

const listBody = t.type({ pagination: t.type({ total_items: t.number, per_page: t.number }) })
const listQuery = t.intersection([t.type({ skip: t.number }), t.UnknownRecord])

/** The address of a list as clients see it, without the query. */
export interface ListAddress {
  /** WebSocket base address of the service. '' when it is unknown: links are then relative to the host. */
  readonly webSocketBase: string
  /** Path prefix of the request. */
  readonly prefix: string
  /** Path of the request after the prefix. */
  readonly path: string
}

/** Drops a trailing slash, because both forms of the path return the same list. */
const locationOf = ({ webSocketBase, prefix, path }: ListAddress): string =>
  `${webSocketBase === '' ? prefix : webSocketBase.replace(/^ws/, 'http')}${path.replace(/\/$/, '')}`

/** Takes only decoded parameters, because an unknown parameter may hold a secret. */
const queryOf = (decodedQuery: Readonly<Record<string, unknown>>, skip: number, limit: number): string => {
  const query = new URLSearchParams()
  for (const [name, member] of Object.entries(decodedQuery)) {
    if (name === 'skip' || name === 'limit') continue
    const values: ReadonlyArray<unknown> = Array.isArray(member) ? member : [member]
    for (const value of values)
      if (typeof value === 'string' || typeof value === 'number') query.append(name, String(value))
  }
  query.append('skip', String(skip))
  query.append('limit', String(limit))
  return query.toString()
}

/**
 * Returns the `Link` header (RFC 8288) of a list: the pages first, prev, next and last that exist. Null when the body
 * is not a list, or when the list is empty.
 */
export const linkHeader = (address: ListAddress, decodedQuery: unknown, body: unknown): string | null => {
  if (!listBody.is(body) || !listQuery.is(decodedQuery)) return null
  const { total_items: total, per_page: limit } = body.pagination
  if (total === 0) return null
  const { skip } = decodedQuery
  const last = Math.floor((total - 1) / limit) * limit
  const pages: ReadonlyArray<readonly [string, number, boolean]> = [
    ['first', 0, true],
    ['prev', Math.min(Math.max(0, skip - limit), last), skip > 0],
    ['next', skip + limit, skip + limit < total],
    ['last', last, true],
  ]
  const location = locationOf(address)
  return pages
    .filter(([, , exists]) => exists)
    .map(([relation, from]) => `<${location}?${queryOf(decodedQuery, from, limit)}>; rel="${relation}"`)
    .join(', ')
}
