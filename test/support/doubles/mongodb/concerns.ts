import type { BSON } from 'mongodb'
import { ServerError } from './errors.ts'
import type { WeakWrite } from './faults.ts'
import type { View } from './storage.ts'

export const waitsForMajority = (command: BSON.Document): boolean => command['writeConcern']?.w === 'majority'

/** Members of checkpoints that tell others how far a projection is: told anew all the time, and lost without harm. */
const MAY_BE_LOST = ['told', 'passed']

/** Whether nothing that must be durable is in the write. */
const isPassing = (name: string, command: BSON.Document): boolean => {
  const updates: ReadonlyArray<BSON.Document> = command['updates'] ?? []
  return name === 'update' && command['update'] === 'checkpoints' && updates.every(({ u, upsert }) => {
    const [operator, ...others] = Object.keys(u as BSON.Document)
    if (operator !== '$set' || others.length > 0 || upsert === true) return false
    return Object.keys(u.$set as BSON.Document).every((member) => MAY_BE_LOST.includes(member))
  })
}

/** A write that may be acknowledged before it is durable, and must not; null where it may, or will not. */
export const weaknessOf = (name: string, command: BSON.Document): WeakWrite | null => {
  const concern: BSON.Document = command['writeConcern'] ?? {}
  if ((concern['w'] === 'majority' && concern['j'] === true) || isPassing(name, command)) return null
  const collection = typeof command[name] === 'string' ? command[name] : ''
  return { collection: `${command['$db']}.${collection}`, command: name, concern: JSON.stringify(concern) }
}

/** A server takes it, but the product must not ask. */
export const refusalOf = ({ concern }: WeakWrite): ServerError =>
  new ServerError(
    100,
    'UnsatisfiableWriteConcern',
    `the double of MongoDB takes writes of {w: "majority", j: true}, not of ${concern}`,
  )

/** What a read that came to a primary sees. */
export const viewOf = (command: BSON.Document): View => {
  // The concern of a read that is explained comes within it.
  const level: unknown = command['readConcern']?.level ?? command['explain']?.readConcern?.level ?? 'local'
  if (level === 'majority') return 'majority'
  if (level === 'local') return 'local'
  throw new ServerError(72, 'InvalidOptions', `the double of MongoDB has no read concern ${String(level)}`)
}

/** Whether a secondary may answer. */
export const maySecondary = (command: BSON.Document): boolean =>
  !['primary', undefined].includes(command['$readPreference']?.mode as string | undefined)
