/** The values of each parameter of a query, in the order in which they were sent. */
export type QueryValues = Readonly<Record<string, ReadonlyArray<string>>>

const nameOf = (pair: string): string => {
  const end = pair.indexOf('=')
  return end === -1 ? pair : pair.slice(0, end)
}

/**
 * Returns the values of the parameters `names`, in one pass over the query. Other parameters are skipped before they
 * are decoded, because a query has space for thousands of them. Only an escaped name must be decoded to be known.
 */
export const valuesIn = (query: string, names: ReadonlyArray<string>): QueryValues => {
  if (names.length === 0) return {}
  const values = new Map<string, Array<string>>(names.map((name) => [name, []]))
  const shortest = Math.min(...names.map(({ length }) => length))
  const mayBeKnown = (name: string): boolean => values.has(name) || (name.length > shortest && name.includes('%'))
  const pairs = query.split('&').filter((pair) => mayBeKnown(nameOf(pair)))
  for (const [name, value] of new URLSearchParams(pairs.join('&'))) values.get(name)?.push(value)
  return Object.fromEntries(values)
}
