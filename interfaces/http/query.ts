/** The values of each parameter of a query, in the order in which they were sent. */
export type QueryValues = Readonly<Record<string, ReadonlyArray<string>>>

/** Values of one parameter that count: the first ones, up to this number. A list of more values is refused. */
export const MAX_VALUES = 20

/** A letter of a name, as itself or escaped. */
const letterPattern = (letter: string): string => {
  const code = letter.charCodeAt(0).toString(16).replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`)
  return `(?:${letter}|%${code})`
}

const patterns = new Map<string, RegExp>()

/** The pattern of a pair with this name, which has only letters, digits and underscores. */
const pairPattern = (name: string): RegExp => {
  const known = patterns.get(name)
  if (known !== undefined) return known
  const pattern = new RegExp(`(?<![^&])${Array.from(name, letterPattern).join('')}(?:=[^&]*)?(?![^&])`, 'g')
  patterns.set(name, pattern)
  return pattern
}

const valuesOf = (query: string, name: string): ReadonlyArray<string> => {
  const pairs = query.match(pairPattern(name)) ?? []
  const counted = pairs.length > MAX_VALUES ? [...pairs.slice(0, MAX_VALUES), ...pairs.slice(-1)] : pairs
  return [...new URLSearchParams(counted.join('&')).values()]
}

/**
 * Returns the values of the parameters `names`, which the code chooses, not the client. A query has space for thousands
 * of parameters, so the others are skipped before they are decoded, and of a parameter that is repeated more often, the
 * first `MAX_VALUES` values and the last one are returned.
 */
export const valuesIn = (query: string, names: ReadonlyArray<string>): QueryValues =>
  Object.fromEntries(names.map((name) => [name, query === '' ? [] : valuesOf(query, name)]))
