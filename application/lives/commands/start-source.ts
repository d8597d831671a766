import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeLive } from '../change-live.ts'
import type { SourcePoint } from '../source-point.ts'

/** Where a process began to pull a live's source. */
export interface SourceFacts extends SourcePoint {
  /** Shown of auto-started lives alone; null of any other. */
  readonly pid: number | null
  /** Of the worker whose process it is. */
  readonly term: number
}

/** With a pid an auto-started live is active. */
export type StartSource = (liveId: number, facts: SourceFacts) => TaskEither<LiveOver | Superseded | Unavailable, void>

export const startSource =
  (deps: WriteDeps): StartSource =>
  (liveId, facts) =>
  async () => {
    const started = await changeLive(deps)(liveId, { type: 'StartSource', ...facts, at: deps.environment.now() })()
    return E.map(() => undefined)(started)
  }
