import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { exists } from '../../../domain/live/state.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import { toAdminLive } from '../admin-live.ts'
import type { AdminLive, AdminLiveDeps } from '../admin-live.ts'
import { finishIfAllowed } from '../finish-if-allowed.ts'
import type { FinishDeps } from '../finish-if-allowed.ts'

/** For administrators: ends the session of any owner, after its last audio is transcribed. */
export type FinishAnyLive = (caller: Caller, liveId: number) => Promise<Either<LiveNotFound | Unavailable, AdminLive>>

export interface FinishAnyLiveDeps extends FinishDeps, AdminLiveDeps {}

export const finishAnyLive =
  (deps: FinishAnyLiveDeps): FinishAnyLive =>
  async (caller, liveId) => {
    const finished = await finishIfAllowed(deps)(caller, liveId, exists)
    return E.isLeft(finished) ? finished : await toAdminLive(deps)(finished.right)
  }
