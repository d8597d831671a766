/** The values of each parameter of a query, in the order in which they were sent. */
export type QueryValues = Readonly<Record<string, ReadonlyArray<string>>>

const nameOf = (pair: string): string => {
  const end = pair.indexOf('=')
  return end === -1 ? pair : pair.slice(0, end)
}

/** Values of one parameter that count: the first ones, up to this number. A list of more values is refused. */
export const MAX_VALUES = 20

/** Returns '' for text that no known name can be. */
const unescaped = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return ''
  }
}

/**
 * Returns the values of the parameters `names`, in one pass over the query. A query has space for thousands of
 * parameters, so others are skipped before they are decoded, and of a parameter that is repeated more often, the first
 * `MAX_VALUES` values and the last one are returned.
 */
export const valuesIn = (query: string, names: ReadonlyArray<string>): QueryValues => {
  const found = new Map<string, Array<string>>(names.map((name) => [name, []]))
  for (const pair of names.length === 0 ? [] : query.split('&')) {
    const name = nameOf(pair)
    const pairs = found.get(name) ?? (name.includes('%') ? found.get(unescaped(name)) : undefined)
    if (pairs !== undefined) pairs[Math.min(pairs.length, MAX_VALUES)] = pair
  }
  return Object.fromEntries(
    Array.from(found, ([name, pairs]) => [name, [...new URLSearchParams(pairs.join('&')).values()]]),
  )
}
