import type { BSON } from 'mongodb'
import { ServerError } from './errors.ts'
import type { View } from './storage.ts'

export const waitsForMajority = (command: BSON.Document): boolean => command['writeConcern']?.w === 'majority'

/** Refuses a write that may be acknowledged before it is durable: a server takes it, but the product must not ask. */
export const checkWriteConcern = (command: BSON.Document): void => {
  if (waitsForMajority(command) && command['writeConcern'].j === true) return
  const asked = JSON.stringify(command['writeConcern'])
  const message = `the double of MongoDB takes writes of {w: "majority", j: true}, not of ${asked}`
  throw new ServerError(100, 'UnsatisfiableWriteConcern', message)
}

/** What a read that came to the primary sees; one that prefers a secondary sees what that has. */
export const viewOf = (command: BSON.Document): View => {
  const mode: unknown = command['$readPreference']?.mode ?? 'primary'
  if (mode !== 'primary' && mode !== 'primaryPreferred') return 'secondary'
  // The concern of a read that is explained comes within it.
  const level: unknown = command['readConcern']?.level ?? command['explain']?.readConcern?.level ?? 'local'
  if (level === 'majority') return 'majority'
  if (level === 'local') return 'local'
  throw new ServerError(72, 'InvalidOptions', `the double of MongoDB has no read concern ${String(level)}`)
}
