import type { Logger } from '../../application/ports/environment.ts'
import type { Member, Members } from '../../application/ports/peers/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'

interface Refusing {
  readonly members: Pick<Members, 'self' | 'all'>
  /** LEASE_TTL. */
  readonly ttl: number
  readonly timers: Timers
  readonly logger: Pick<Logger, 'warn'>
}

/** Looks in a LEASE_TTL. */
const LOOKS = 10
/** LEASE_TTL that is waited: longer than anybody needs to be found lost; and of two that start at once one longer. */
const PATIENCE = { higher: 1.5, lower: 2.5 }

/**
 * Throws an Error for people where another member goes on: as long as what runs here expects its stores for itself. Of two
 * that start at once the one whose incarnation is the lower stays. Whoever is silent is waited out.
 */
export const refuseSecond = async ({ members, ttl, timers, logger }: Refusing): Promise<void> => {
  const { self, all } = members
  const others = (): ReadonlyArray<Member> => all().filter(({ incarnation }) => incarnation !== self.incarnation)
  const [first] = others()
  if (first === undefined) return
  logger.warn({ member: first.name, ttl }, 'waiting to see whether another process that uses MongoDB still lives')
  const looks = LOOKS * (self.incarnation < first.incarnation ? PATIENCE.lower : PATIENCE.higher)
  for (let look = 0; look < looks; look += 1) {
    await pause(timers, ttl / LOOKS)
    if (others().length === 0) return
  }
  throw new Error(`MongoDB is in use by the process "${first.name}": stop it first, two processes cannot share it yet`)
}
