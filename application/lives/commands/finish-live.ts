import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Live, LiveState } from '../../../domain/live/decider.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import type { LiveView } from '../../ports/read-models.ts'
import { finishing } from '../finishing.ts'
import type { FinishingDeps } from '../finishing.ts'
import { isOwned } from '../load-live.ts'

/** Ends a live of the caller's, after its last words; one that is over already is shown as it is. */
export type FinishLive = (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, LiveView>

export const finishLive =
  (deps: FinishingDeps): FinishLive =>
  (caller, liveId) =>
    finishing(deps)(caller, liveId, (state: LiveState): state is Live => isOwned(state, caller.userId))
