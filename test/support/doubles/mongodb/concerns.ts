import type { BSON } from 'mongodb'
import { ServerError } from './errors.ts'
import type { WeakWrite } from './faults.ts'
import type { View } from './storage.ts'

export const waitsForMajority = (command: BSON.Document): boolean => command['writeConcern']?.w === 'majority'

/** Members of checkpoints that publish the progress of a projection. They are written all the time and may be lost. */
const MAY_BE_LOST = ['told', 'passed']

/** Returns whether a write contains only data that may be lost. */
const mayBeLost = (name: string, command: BSON.Document): boolean => {
  const updates: ReadonlyArray<BSON.Document> = command['updates'] ?? []
  return name === 'update' && command['update'] === 'checkpoints' && updates.every(({ u, upsert }) => {
    const [operator, ...others] = Object.keys(u as BSON.Document)
    if (operator !== '$set' || others.length > 0 || upsert === true) return false
    return Object.keys(u.$set as BSON.Document).every((member) => MAY_BE_LOST.includes(member))
  })
}

/** Returns a write that must be durable but could be acknowledged earlier; null for every other command. */
export const weaknessOf = (name: string, command: BSON.Document): WeakWrite | null => {
  const concern: BSON.Document = command['writeConcern'] ?? {}
  if ((concern['w'] === 'majority' && concern['j'] === true) || mayBeLost(name, command)) return null
  const collection = typeof command[name] === 'string' ? command[name] : ''
  return { collection: `${command['$db']}.${collection}`, command: name, concern: JSON.stringify(concern) }
}

/** The refusal of a weak write. A real server performs such a write, but the product must not send it. */
export const refusalOf = ({ concern }: WeakWrite): ServerError =>
  new ServerError(
    100,
    'UnsatisfiableWriteConcern',
    `the double of MongoDB performs writes with {w: "majority", j: true} only, not with ${concern}`,
  )

/** The data that a read at a primary sees. */
export const viewOf = (command: BSON.Document): View => {
  // The read concern of an explained read is inside the explained command.
  const level: unknown = command['readConcern']?.level ?? command['explain']?.readConcern?.level ?? 'local'
  if (level === 'majority') return 'majority'
  if (level === 'local') return 'local'
  const message = `the double of MongoDB does not implement the read concern ${String(level)}`
  throw new ServerError(72, 'InvalidOptions', message)
}

/** Returns whether a secondary may answer. */
export const maySecondaryAnswer = (command: BSON.Document): boolean =>
  !['primary', undefined].includes(command['$readPreference']?.mode as string | undefined)
