import type { Either } from 'fp-ts/lib/Either.js'
import type { Unavailable } from '../../application/refusals.ts'
import type { EndByWorker } from '../../application/lives/ending.ts'
import { scheduleWithout } from '../../application/lives/policies/check-schedule.ts'
import { creatorStateAmong } from '../../application/lives/policies/creator-state.ts'
import { eraseDeletedLives } from '../../application/lives/policies/erase-deleted-lives.ts'
import { expireLives, expiryCheckMs } from '../../application/lives/policies/expire-lives.ts'
import { forgetText } from '../../application/lives/policies/forget-text.ts'
import { RECONCILER_LEASE, reconcileLives } from '../../application/lives/policies/reconcile-lives.ts'
import { createReconciler } from '../../application/lives/policies/reconciler.ts'
import type { HeldLease } from '../../application/ports/leases.ts'
import { eraseUsers } from '../../application/users/policies/erase-users.ts'
import { isDisabledIn } from '../../application/users/policies/user-directory.ts'
import { whileLeaseHeld } from '../../application/while-lease-held.ts'
import { hasServers, takeoverGraceOf } from '../../infrastructure/settings/settings.ts'
import { assemble, type Part } from './assemble.ts'
import type { Core } from './service.ts'

/** The background tasks that one process at a time runs. */
export interface Policies {
  /**
   * Ends sessions and releases reservations that an earlier process left behind. With servers, the holder of the lease
   * does this, so call it only with embedded stores. Leaves out `waiting`: sessions that need nothing.
   */
  readonly reconcileExcept: (waiting: ReadonlySet<number>) => Promise<Either<Unavailable, void>>
}

/** Starts the tasks that end abandoned sessions, and erase data on time. */
export const startPolicies = (
  { foundation, writeSide, readSide }: Core, endByWorker: EndByWorker,
): Promise<Policies & Part> =>
  assemble(async (opened) => {
    const { settings, logger, leases, stores: { members }, dutyDocuments: documents } = foundation
    const { write, admission } = writeSide
    const { projector, directory, lives, tokenIdsOf } = readSide
    const working = { ...write, admission }

    const expiry = expireLives({ ...working, limits: settings, endByWorker })
    const creatorStateOf = creatorStateAmong(members, !hasServers(settings))
    const isDisabled = isDisabledIn(directory)
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
    const erasing = { ...working, leases, documents, ...lives, tokenIdsOf, logger, retentionMax, listsAreCurrent }
    const duties = [forgetText(erasing), eraseDeletedLives(erasing), eraseUsers(erasing)]
    opened({
      stop: async () => {
        await Promise.all(duties.map(({ stop }) => stop()))
      },
    })
    return {
      reconcileExcept: (waiting) => createReconciler({ ...reconciled, schedule: scheduleWithout(waiting) }).round(),
    }
  })
