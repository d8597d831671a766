import type { Logger } from '../../application/ports/environment.ts'
import type { Member, Members } from '../../application/ports/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'

interface Refusing {
  readonly members: Pick<Members, 'self' | 'all'>
  /** LEASE_TTL in milliseconds. */
  readonly ttl: number
  readonly timers: Timers
  readonly logger: Pick<Logger, 'warn'>
}

/** Number of checks in one LEASE_TTL. */
const CHECKS_PER_TTL = 10
/**
 * Maximum wait in multiples of LEASE_TTL. It is longer than the time to detect a lost process. If two processes start
 * together, only one of them may stop. So the process with the lower incarnation (id of a run) waits longer, and the
 * other process stops first.
 */
const PATIENCE_TTLS = { higher: 1.5, lower: 2.5 }

/**
 * Throws an Error for the user if another process uses the same MongoDB. The embedded event log allows one process. A
 * process that was killed disappears from the members during the wait.
 */
export const refuseSecondProcess = async ({ members, ttl, timers, logger }: Refusing): Promise<void> => {
  const { self, all } = members
  const others = (): ReadonlyArray<Member> => all().filter(({ incarnation }) => incarnation !== self.incarnation)
  const [first] = others()
  if (first === undefined) return
  logger.warn({ member: first.name, ttl }, 'waiting to see whether another process that uses MongoDB is running')
  const patience = self.incarnation < first.incarnation ? PATIENCE_TTLS.lower : PATIENCE_TTLS.higher
  for (let check = 0; check < CHECKS_PER_TTL * patience; check += 1) {
    await pause(timers, ttl / CHECKS_PER_TTL)
    if (others().length === 0) return
  }
  throw new Error(
    `MongoDB is in use by the process "${first.name}". Stop that process: with an embedded event log only one process `
      + 'may run',
  )
}
