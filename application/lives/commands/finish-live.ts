import type { Either } from 'fp-ts/lib/Either.js'
import type { Live, LiveState } from '../../../domain/live/state.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import type { LiveView } from '../../ports/read-models.ts'
import { finishIfAllowed } from '../finish-if-allowed.ts'
import type { FinishDeps } from '../finish-if-allowed.ts'
import { isOwned } from '../load-live.ts'

/** Ends a session of the caller, after its last audio is transcribed. Returns an ended session unchanged. */
export type FinishLive = (caller: Caller, liveId: number) => Promise<Either<LiveNotFound | Unavailable, LiveView>>

export const finishLive =
  (deps: FinishDeps): FinishLive =>
  (caller, liveId) =>
    finishIfAllowed(deps)(caller, liveId, (state: LiveState): state is Live => isOwned(state, caller.userId))
