import { BSON } from 'mongodb'
import { notImplemented, ServerError } from './errors.ts'

/** The order of types in the manual, for the types of the double. */
const rankOf = (value: unknown): number => {
  if (value === null || value === undefined) return 0
  if (typeof value === 'number' || value instanceof BSON.Long) return 1
  if (typeof value === 'string') return 2
  if (Array.isArray(value)) return 4
  if (value instanceof BSON.Binary) return 5
  if (value instanceof BSON.ObjectId) return 6
  if (typeof value === 'boolean') return 7
  if (value instanceof Date) return 8
  return 3
}

const textOrder = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const bytesOf = (value: BSON.Binary | BSON.ObjectId): Buffer =>
  Buffer.from(value instanceof BSON.Binary ? value.value() : value.id)

/** Compares lists and objects member by member, including names. The shorter one is smaller. */
const memberOrder = (a: object, b: object): number => {
  const [left, right] = [Object.entries(a), Object.entries(b)]
  for (const [index, [name, value]] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    const order = rankOf(value) - rankOf(other[1]) || textOrder(name, other[0]) || compare(value, other[1])
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** Compares by BSON's order of types and values: texts by their bytes, a missing member as null. */
export const compare = (a: unknown, b: unknown): number => {
  const rank = rankOf(a)
  if (rank !== rankOf(b)) return rank - rankOf(b)
  switch (rank) {
    case 0:
      return 0
    case 2:
      return textOrder(String(a), String(b))
    case 3:
    case 4:
      return memberOrder(a as object, b as object)
    case 5:
    case 6: {
      const [left, right] = [bytesOf(a as BSON.Binary), bytesOf(b as BSON.Binary)]
      return rank === 5 ? left.length - right.length || Buffer.compare(left, right) : Buffer.compare(left, right)
    }
    default:
      return Number(a) - Number(b)
  }
}

/** The value at a dotted path; undefined: missing. */
export const valueAt = (document: BSON.Document, path: string): unknown =>
  path.split('.').reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? (value as BSON.Document)[name] : undefined),
    document,
  )

const equals = (value: unknown, wanted: unknown): boolean =>
  compare(value, wanted) === 0 || (Array.isArray(value) && value.some((item) => compare(item, wanted) === 0))

/** The texts of a list as a set. Long lists would be slow without it; a real server uses an index. */
const textsOf = (() => {
  const cache = new WeakMap<ReadonlyArray<unknown>, ReadonlySet<unknown>>()
  return (list: ReadonlyArray<unknown>): ReadonlySet<unknown> => {
    const texts = cache.get(list) ?? new Set(list.filter((item) => typeof item === 'string'))
    cache.set(list, texts)
    return texts
  }
})()

type Operator = (value: unknown, operand: unknown) => boolean

const OPERATORS: Readonly<Record<string, Operator>> = {
  $eq: equals,
  $ne: (value, operand) => !equals(value, operand),
  // Values of another type than the operand never match.
  $lt: (value, operand) => rankOf(value) === rankOf(operand) && compare(value, operand) < 0,
  $gt: (value, operand) => rankOf(value) === rankOf(operand) && compare(value, operand) > 0,
  $not: (value, operand) =>
    !Object.entries(operand as BSON.Document).every(([name, wanted]) => OPERATORS[name]?.(value, wanted) === true),
  $in: (value, operand) => {
    if (!Array.isArray(operand)) throw new ServerError(2, 'BadValue', '$in needs an array')
    return typeof value === 'string' ? textsOf(operand).has(value) : operand.some((item) => equals(value, item))
  },
  $lte: (value, operand) => rankOf(value) === rankOf(operand) && compare(value, operand) <= 0,
  $gte: (value, operand) => rankOf(value) === rankOf(operand) && compare(value, operand) >= 0,
}

const isPlain = (value: unknown): value is BSON.Document => rankOf(value) === 3

export const isExpression = (wanted: unknown): wanted is BSON.Document =>
  isPlain(wanted) && Object.keys(wanted)[0]?.startsWith('$') === true

/** Throws on an invalid filter, also when the collection is empty. */
export const checkFilter = (filter: BSON.Document): void => {
  for (const [path, wanted] of Object.entries(filter)) {
    if (path.startsWith('$')) throw new ServerError(2, 'BadValue', `unknown top level operator: ${path}`)
    if (!isExpression(wanted)) continue
    for (const name of Object.keys(wanted))
      if (!Object.hasOwn(OPERATORS, name)) throw new ServerError(2, 'BadValue', `unknown operator: ${name}`)
  }
}

export const matches = (document: BSON.Document, filter: BSON.Document): boolean =>
  Object.entries(filter).every(([path, wanted]) => {
    const value = valueAt(document, path)
    if (!isExpression(wanted)) return equals(value, wanted)
    return Object.entries(wanted).every(([name, operand]) => OPERATORS[name]?.(value, operand) === true)
  })

/** The values that a filter requires. An upsert starts with them. */
export const demanded = (filter: BSON.Document): BSON.Document =>
  Object.fromEntries(
    Object.entries(filter).flatMap(([path, wanted]) => {
      if (!isExpression(wanted)) return [[path, wanted]]
      return '$eq' in wanted ? [[path, wanted['$eq']]] : []
    }),
  )

/** Sorts documents. Equal documents keep their order. */
export const sorted = (documents: ReadonlyArray<BSON.Document>, order: BSON.Document): ReadonlyArray<BSON.Document> => {
  const keys = Object.entries(order)
  for (const [, direction] of keys)
    if (direction !== 1 && direction !== -1) throw notImplemented(`a sort by ${JSON.stringify(direction)}`)
  if (keys.length === 0) return documents
  return documents.toSorted((a, b) => {
    for (const [path, direction] of keys) {
      const difference = compare(valueAt(a, path), valueAt(b, path)) * Number(direction)
      if (difference !== 0) return difference
    }
    return 0
  })
}

/** Returns a copy without the member at `path`. */
const withoutMember = (document: BSON.Document, path: string): BSON.Document => {
  const [name = '', ...rest] = path.split('.')
  const { [name]: member, ...others } = document
  if (rest.length === 0) return others
  if (typeof member !== 'object' || member === null) return document
  return { ...document, [name]: withoutMember(member, rest.join('.')) }
}

/** Returns the projected members and `_id`, or all members except those that are projected to 0. */
export const projected = (document: BSON.Document, projection: BSON.Document): BSON.Document => {
  const names = Object.entries(projection)
  if (names.length > 0 && names.every(([, kept]) => kept === 0))
    return names.reduce((rest: BSON.Document, [path]) => withoutMember(rest, path), document)
  for (const [name, kept] of names)
    if (kept !== 1 || name.includes('.')) throw notImplemented(`the projection ${JSON.stringify(projection)}`)
  if (names.length === 0) return document
  return Object.fromEntries(Object.entries(document).filter(([name]) => name === '_id' || name in projection))
}
