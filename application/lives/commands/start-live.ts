import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { LiveOver, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeOpenLive } from '../change-live.ts'

/** pending → active, with the first audio; nothing to do when it is active already. */
export type StartLive = (liveId: number) => TaskEither<LiveOver | Unavailable, void>

export const startLive =
  (deps: WriteDeps): StartLive =>
  (liveId) =>
  () =>
    changeOpenLive(deps)(liveId, { type: 'StartLive', at: deps.environment.now() })()
