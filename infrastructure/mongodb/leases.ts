import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import type { HeldLease, Leases } from '../../application/ports/peers/leases.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import type { Lease, LeaseRegister } from './lease-register.ts'
import type { SharedMembers, Verdicts } from './members.ts'

interface LeasesDeps {
  readonly register: LeaseRegister
  readonly members: Pick<SharedMembers, 'self' | 'all' | 'lookAlong' | 'lookNow'>
  readonly timers: Timers
  readonly logger: Pick<Logger, 'info' | 'error'>
  /** Milliseconds until a lease whose work has ended is sought again. */
  readonly pauseMs: number
}

type Work = (held: HeldLease) => Promise<void>

/** One lease as this process wants it. */
interface Seeker {
  readonly work: Work
  readonly stopping: AbortController
  /** While the work runs. */
  held: { readonly token: number; readonly losing: AbortController } | null
  /** Settles once what is under way, if anything is, has ended. */
  busy: Promise<void>
  isPausing: boolean
}

/**
 * The leases of a MongoDB, looked at along with its members. They are never renewed: whoever holds one holds it for as
 * long as its beats are seen, so that an election, in which nobody can renew anything, takes none away.
 */
export const createLeases = ({ register, members, timers, logger, pauseMs }: LeasesDeps): Leases => {
  const { self } = members
  const seekers = new Map<string, Seeker>()
  let known: ReadonlyArray<Lease> = []

  const isOwn = ({ incarnation }: Pick<Lease, 'incarnation'>): boolean => incarnation === self.incarnation

  /** To the end of the work, and a pause behind it. */
  const run = async (name: string, seeker: Seeker, token: number): Promise<void> => {
    const losing = new AbortController()
    seeker.held = { token, losing }
    logger.info({ lease: name, token }, 'holding a lease')
    try {
      await seeker.work({ token, signal: losing.signal })
    } catch (error) {
      logger.error({ lease: name, error: String(error) }, 'work under a lease failed')
    }
    // Lost to another process it says nothing to the register. Unanswered, it is found as a stray, or goes on being ours.
    await register.giveBack(name, self, token)
    seeker.isPausing = true
    seeker.held = null
    await pause(timers, pauseMs, seeker.stopping.signal)
    seeker.isPausing = false
  }

  /** Whether the lease is another's, or nobody's, by now. A look that is older than our token says nothing. */
  const isLost = (token: number, lease: Lease | undefined, { isCounted, isMember }: Verdicts): boolean => {
    if (!isMember) return true
    if (lease === undefined) return isCounted
    return lease.token > token || (lease.token === token && !isOwn(lease))
  }

  const isFree = (lease: Lease | undefined, { stays }: Verdicts): boolean =>
    lease === undefined || lease.holder === null || lease.incarnation === null || !stays(lease.holder, lease.incarnation)

  const isStaying = (): boolean => members.all().every(({ incarnation, state }) => incarnation !== self.incarnation || state !== 'stopping')

  const take = async (name: string, seeker: Seeker, lease: Lease | undefined): Promise<void> => {
    const taken = await register.take(name, lease, self)
    if (E.isLeft(taken) || taken.right === null) return
    if (seeker.stopping.signal.aborted) await register.giveBack(name, self, taken.right)
    else seeker.busy = run(name, seeker, taken.right)
  }

  const attend = async (name: string, seeker: Seeker, lease: Lease | undefined, verdicts: Verdicts): Promise<void> => {
    if (seeker.held !== null) {
      if (isLost(seeker.held.token, lease, verdicts)) seeker.held.losing.abort()
      return
    }
    if (seeker.isPausing || seeker.stopping.signal.aborted || !verdicts.isCounted || !verdicts.isMember || !isStaying()) return
    // Taken by a request whose answer was lost.
    if (lease !== undefined && isOwn(lease)) seeker.busy = run(name, seeker, lease.token)
    else if (isFree(lease, verdicts)) {
      const taking = take(name, seeker, lease)
      seeker.busy = taking
      await taking
    }
  }

  members.lookAlong(async () => {
    const seen = await register.look()
    return async (verdicts) => {
      if (E.isLeft(seen)) return
      known = seen.right
      const strays = known.filter((lease) => isOwn(lease) && !seekers.has(lease.name))
      await Promise.all([
        ...[...seekers].map(([name, seeker]) => attend(name, seeker, known.find((lease) => lease.name === name), verdicts)),
        ...strays.map(({ name, token }) => register.giveBack(name, self, token)),
      ])
    }
  })

  return {
    hold: (name, work) => {
      if (seekers.has(name)) throw new Error(`the lease ${name} is already requested`)
      const seeker: Seeker = { work, stopping: new AbortController(), held: null, busy: Promise.resolve(), isPausing: false }
      seekers.set(name, seeker)
      members.lookNow()
      return {
        stop: async () => {
          seeker.stopping.abort()
          seeker.held?.losing.abort()
          await seeker.busy
          seekers.delete(name)
        },
      }
    },
    holders: () => known.map(({ name, holder, token, incarnation }) => ({ name, holder, token, isOwn: isOwn({ incarnation }) })),
  }
}
