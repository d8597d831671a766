import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import type { HeldLease, LeaseHolder, Leases } from '../../application/ports/leases.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import type { Lease, LeaseRegister } from './lease-register.ts'
import type { SharedMembers, Verdicts } from './members.ts'

interface LeasesDeps {
  readonly register: LeaseRegister
  readonly members: Pick<SharedMembers, 'self' | 'all' | 'joinReads' | 'readNow'>
  readonly timers: Timers
  readonly logger: Pick<Logger, 'info' | 'error'>
  /** Milliseconds until a process requests a lease again after its work has ended. */
  readonly pauseMs: number
}

type Work = (held: HeldLease) => Promise<void>

/** A lease that this process wants. */
interface Seeker {
  readonly work: Work
  readonly stopping: AbortController
  /** Set while the work runs. `losing` aborts when this process has lost the lease or stops the work. */
  held: { readonly token: number; readonly losing: AbortController } | null
  /** Settles when the running step, if any, has ended. */
  busy: Promise<void>
  isPausing: boolean
}

/**
 * Creates the leases in MongoDB, which are read together with the members. Leases are never renewed: a process holds a
 * lease while the others see its heartbeats. So an election in MongoDB ends no lease, although no write succeeds then.
 */
export const createLeases = ({ register, members, timers, logger, pauseMs }: LeasesDeps): Leases => {
  const { self } = members
  const seekers = new Map<string, Seeker>()
  let holders: ReadonlyArray<LeaseHolder> = []

  const isOwn = ({ incarnation }: Pick<Lease, 'incarnation'>): boolean => incarnation === self.incarnation

  /** Runs the work to its end, releases the lease and pauses. */
  const run = async (name: string, seeker: Seeker, token: number): Promise<void> => {
    const losing = new AbortController()
    seeker.held = { token, losing }
    logger.info({ lease: name, fencingNumber: token }, 'holding a lease')
    try {
      await seeker.work({ token, signal: losing.signal })
    } catch (error) {
      logger.error({ lease: name, error: String(error) }, 'work under a lease failed')
    }
    // Changes nothing if another process holds the lease. If the release fails, a later read shows that we hold it.
    await register.release(name, self, token)
    seeker.isPausing = true
    seeker.held = null
    await pause(timers, pauseMs, seeker.stopping.signal)
    seeker.isPausing = false
  }

  /** Whether this process has lost the lease. A read that is older than our token decides nothing. */
  const isLost = (token: number, lease: Lease | undefined, { isCounted, isMember }: Verdicts): boolean => {
    if (!isMember) return true
    if (lease === undefined) return isCounted
    return lease.token > token || (lease.token === token && !isOwn(lease))
  }

  const isFree = (lease: Lease | undefined, { stays }: Verdicts): boolean =>
    lease === undefined
    || lease.holder === null
    || lease.incarnation === null
    || !stays(lease.holder, lease.incarnation)

  /** A lost member holds nothing, although its name stays in the lease until another process takes the lease. */
  const holderOf = (lease: Lease, verdicts: Verdicts): LeaseHolder => {
    const { name, holder, token } = lease
    return { name, holder: isFree(lease, verdicts) ? null : holder, token, isOwn: isOwn(lease) }
  }

  const isStaying = (): boolean =>
    members.all().every(({ incarnation, state }) => incarnation !== self.incarnation || state !== 'stopping')

  const take = async (name: string, seeker: Seeker, lease: Lease | undefined): Promise<void> => {
    const taken = await register.take(name, lease, self)
    if (E.isLeft(taken) || taken.right === null) return
    if (seeker.stopping.signal.aborted) await register.release(name, self, taken.right)
    else seeker.busy = run(name, seeker, taken.right)
  }

  const update = async (name: string, seeker: Seeker, lease: Lease | undefined, verdicts: Verdicts): Promise<void> => {
    if (seeker.held !== null) {
      if (isLost(seeker.held.token, lease, verdicts)) seeker.held.losing.abort()
      return
    }
    const mayTake = verdicts.isCounted && verdicts.isMember && isStaying()
    if (seeker.isPausing || seeker.stopping.signal.aborted || !mayTake) return
    // An earlier request took the lease, but its answer was lost.
    if (lease !== undefined && isOwn(lease)) seeker.busy = run(name, seeker, lease.token)
    else if (isFree(lease, verdicts)) {
      const taking = take(name, seeker, lease)
      seeker.busy = taking
      await taking
    }
  }

  members.joinReads(async () => {
    const found = await register.read()
    return async (verdicts) => {
      if (E.isLeft(found)) return
      const known = found.right
      // An uncounted read does not show which members are lost.
      if (verdicts.isCounted) holders = known.map((lease) => holderOf(lease, verdicts))
      const unused = known.filter((lease) => isOwn(lease) && !seekers.has(lease.name))
      await Promise.all([
        ...[...seekers].map(([name, seeker]) =>
          update(name, seeker, known.find((lease) => lease.name === name), verdicts)),
        ...unused.map(({ name, token }) => register.release(name, self, token)),
      ])
    }
  })

  return {
    hold: (name, work) => {
      if (seekers.has(name)) throw new Error(`the lease ${name} is already requested`)
      const stopping = new AbortController()
      const seeker: Seeker = { work, stopping, held: null, busy: Promise.resolve(), isPausing: false }
      seekers.set(name, seeker)
      members.readNow()
      return {
        stop: async () => {
          stopping.abort()
          seeker.held?.losing.abort()
          await seeker.busy
          seekers.delete(name)
        },
      }
    },
    holders: () => holders,
  }
}
