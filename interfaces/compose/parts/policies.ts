import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { User } from '../../../domain/user/decider.ts'
import type { EndByWorker } from '../../../application/lives/ending.ts'
import { creatorStateAmong } from '../../../application/lives/policies/creator-state.ts'
import { expireLives, expiryCheckMs } from '../../../application/lives/policies/expire-lives.ts'
import { scheduleWithout } from '../../../application/lives/policies/check-schedule.ts'
import { RECONCILER_LEASE, reconcileLives } from '../../../application/lives/policies/reconcile-lives.ts'
import { createReconciler } from '../../../application/lives/policies/reconciler.ts'
import type { HeldLease } from '../../../application/ports/leases.ts'
import { isActive } from '../../../application/users/known-user.ts'
import { whileLeaseHeld } from '../../../application/while-lease-held.ts'
import { takeoverGraceOf } from '../../../infrastructure/settings.ts'
import { assemble } from '../assemble.ts'
import { startDuties } from '../duties.ts'
import type { Foundation } from './foundation.ts'
import type { ReadSide } from './read-side.ts'
import type { WriteSide } from './write-side.ts'

interface Needs {
  readonly foundation: Foundation
  readonly writeSide: WriteSide
  readonly readSide: ReadSide
  readonly endByWorker: EndByWorker
}

/** Starts the background tasks that one process at a time runs: ending abandoned sessions, and erasing data on time. */
export const startPolicies = ({ foundation, writeSide, readSide, endByWorker }: Needs) =>
  assemble(async (opened) => {
    const { settings, environment, logger, leases, stores: { members }, dutyDocuments: documents } = foundation
    const { write, admission, isShared } = writeSide
    const { projector, directory, lives, tokenIdsOf } = readSide
    const working = { ...write, admission }

    // If the directory is unavailable, the next round checks again.
    const isDisabled = async (userId: number): Promise<boolean> => {
      const found = await directory.byId(userId)
      return E.isRight(found) && O.exists((user: User) => !isActive(user))(found.right)
    }
    const expiry = expireLives({ ...working, limits: settings, endByWorker })
    const creatorStateOf = creatorStateAmong(members, !isShared)
    const reconciled = { ...working, isDisabled, creatorStateOf, takeoverGrace: takeoverGraceOf(settings) }
    const reconcile = ({ token }: HeldLease) =>
      // The token counts how often the lease changed its holder. A new holder does not know the time of the last check,
      // so it checks at once.
      reconcileLives({
        ...reconciled, logger, expiry, every: expiryCheckMs(settings), first: token === 0 ? undefined : 0,
      })
    opened(whileLeaseHeld(leases, RECONCILER_LEASE, reconcile))
    const listsAreCurrent = () =>
      projector.lag().every(({ secondsBehind, error }) => error === null && secondsBehind < 30)
    const { retentionMax } = settings
    opened(startDuties({ ...working, leases, documents, ...lives, tokenIdsOf, logger, retentionMax, listsAreCurrent }))
    return {
      environment,
      /**
       * Ends sessions and releases reservations that an earlier process left behind. With servers, the holder of the
       * lease does this, so call it only with embedded stores. Leaves out `waiting`: sessions that need nothing.
       */
      reconcileExcept: (waiting: ReadonlySet<number>) =>
        createReconciler({ ...reconciled, schedule: scheduleWithout(waiting) }).round(),
    }
  })
