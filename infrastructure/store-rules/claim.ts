import { hostname } from 'node:os'
import * as t from 'io-ts'
import type { Self } from '../../application/ports/members.ts'

/** An entry in a store with which one process claims its name, or the event log, for itself. */
export const claim = t.readonly(t.type({
  name: t.string,
  incarnation: t.string,
  /**
   * Generated name of the data directory. The directory has a lock, so an earlier process with the same directory has
   * ended.
   */
  directory: t.string,
  host: t.string,
  pid: t.number,
  since: t.string,
}))
export type Claim = t.TypeOf<typeof claim>

/** Returns the claim of this process. `since`: the time of the claim. */
export const claimOf = ({ name, incarnation }: Self, directory: string, since: string): Claim => ({
  name, incarnation, directory, host: hostname(), pid: process.pid, since,
})

/** Describes a claim for error messages. */
export const describeClaim = ({ name, host, pid, since }: Claim): string =>
  `"${name}" (process ${pid} on ${host}, since ${since})`
