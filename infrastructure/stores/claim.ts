import { hostname } from 'node:os'
import * as t from 'io-ts'
import type { Self } from '../../application/ports/peers/members.ts'

/** What a process writes where only one may be, so that others know whose the place is. */
export const claim = t.readonly(t.type({
  name: t.string,
  incarnation: t.string,
  /**
   * Its data directory, by the name made for that. Another incarnation of the same one is gone: the directory is taken
   * for one process.
   */
  directory: t.string,
  host: t.string,
  pid: t.number,
  since: t.string,
}))
export type Claim = t.TypeOf<typeof claim>

/** What this process claims from `since` on. */
export const claimOf = ({ name, incarnation }: Self, directory: string, since: string): Claim => ({
  name, incarnation, directory, host: hostname(), pid: process.pid, since,
})

/** In words for people. */
export const describeClaim = ({ name, host, pid, since }: Claim): string => `"${name}" (process ${pid} on ${host}, since ${since})`
