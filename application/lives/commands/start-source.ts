import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { LiveOver, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeOpenLive } from '../change-live.ts'
import type { SourcePoint } from '../source-point.ts'

/** Where a process began to pull a live's source. */
export interface SourceFacts extends SourcePoint {
  /** Shown of auto-started lives alone; null of any other. */
  readonly pid: number | null
}

/** With a pid an auto-started live is active. */
export type StartSource = (liveId: number, facts: SourceFacts) => TaskEither<LiveOver | Unavailable, void>

export const startSource =
  (deps: WriteDeps): StartSource =>
  (liveId, facts) =>
  () =>
    changeOpenLive(deps)(liveId, { type: 'StartSource', ...facts, at: deps.environment.now() })()
