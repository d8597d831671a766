import type { BSON } from 'mongodb'
import { notImplemented, ServerError } from './errors.ts'
import { compare } from './match.ts'

interface Occasion {
  /** The update inserts the document. */
  readonly isNew: boolean
  /** The time of the member. */
  readonly now: Date
}

type Operator = (document: BSON.Document, member: string, operand: unknown, occasion: Occasion) => void

const better =
  (isBetter: (difference: number) => boolean): Operator =>
  (document, member, operand) => {
    if (!(member in document) || isBetter(compare(operand, document[member]))) document[member] = operand
  }

/** `$inc`, for 32-bit integers only. */
const increment: Operator = (document, member, operand) => {
  const before = document[member] ?? 0
  if (!Number.isInteger(before) || !Number.isInteger(operand)) throw notImplemented('$inc of non-integer values')
  document[member] = Number(before) + Number(operand)
}

const OPERATORS: Readonly<Record<string, Operator>> = {
  $set: (document, member, operand) => {
    document[member] = operand
  },
  $setOnInsert: (document, member, operand, { isNew }) => {
    if (isNew) document[member] = operand
  },
  $unset: (document, member) => {
    delete document[member]
  },
  $inc: increment,
  $currentDate: (document, member, operand, { now }) => {
    if (operand !== true) throw notImplemented('$currentDate with a value other than true')
    document[member] = now
  },
  $max: better((difference) => difference > 0),
  $min: better((difference) => difference < 0),
}

const isOperator = (name: string): boolean => name.startsWith('$')

/** Throws on an invalid update, also when no document matches. */
export const checkUpdate = (update: unknown): void => {
  if (Array.isArray(update)) throw notImplemented('updates with a pipeline')
  const members = Object.entries(update as BSON.Document)
  if (members[0] === undefined || !isOperator(members[0][0])) {
    const [mixed] = members.find(([name]) => isOperator(name)) ?? []
    if (mixed === undefined) return
    throw new ServerError(
      52,
      'DollarPrefixedFieldName',
      `The dollar ($) prefixed field '${mixed}' in '${mixed}' is not allowed in the context of ` +
        "an update's replacement document.",
    )
  }
  const paths = new Set<string>()
  for (const [name, operands] of members) {
    if (!Object.hasOwn(OPERATORS, name))
      throw new ServerError(
        9,
        'FailedToParse',
        `Unknown modifier: ${name}. Expected a valid update modifier or pipeline-style update specified as an array`,
      )
    for (const path of Object.keys(operands as BSON.Document)) {
      if (path.includes('.')) throw notImplemented('updates of nested members')
      if (paths.has(path))
        throw new ServerError(
          40,
          'ConflictingUpdateOperators',
          `Updating the path '${path}' would create a conflict at '${path}'`,
        )
      paths.add(path)
    }
  }
}

/** The document after the update. */
export const updated = (document: BSON.Document, update: BSON.Document, occasion: Occasion): BSON.Document => {
  const [first] = Object.keys(update)
  const before = '_id' in document ? { _id: document['_id'] } : {}
  const after: BSON.Document = first !== undefined && isOperator(first) ? { ...document } : { ...before, ...update }
  if (first !== undefined && isOperator(first))
    for (const [name, operands] of Object.entries(update))
      for (const [member, operand] of Object.entries(operands as BSON.Document))
        OPERATORS[name]?.(after, member, operand, occasion)
  if ('_id' in document && compare(after['_id'], document['_id']) !== 0)
    throw new ServerError(
      66,
      'ImmutableField',
      "Performing an update on the path '_id' would modify the immutable field '_id'",
    )
  return after
}
