import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { exists } from '../../../domain/live/decider.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import { adminLive } from '../admin-live.ts'
import type { AdminLive, AdminLiveDeps } from '../admin-live.ts'
import { finishing } from '../finishing.ts'
import type { FinishingDeps } from '../finishing.ts'

/** For administrators: ends a live whoever owns it, after its last words. */
export type FinishAnyLive = (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, AdminLive>

export interface FinishAnyLiveDeps extends FinishingDeps, AdminLiveDeps {}

export const finishAnyLive =
  (deps: FinishAnyLiveDeps): FinishAnyLive =>
  (caller, liveId) =>
  async () => {
    const finished = await finishing(deps)(caller, liveId, exists)()
    return E.isLeft(finished) ? finished : await adminLive(deps)(finished.right)()
  }
