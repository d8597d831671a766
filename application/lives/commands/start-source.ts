import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeLive } from '../change-live.ts'
import type { SourcePoint } from '../source-point.ts'

/** The point in a session where a process began to pull the source. */
export interface SourceFacts extends SourcePoint {
  /** Process id, which the interface shows only for auto-started sessions. Null for all other sessions. */
  readonly pid: number | null
  /** The term of the worker that owns the process. */
  readonly term: number
}

/** Records the start of a source process. An auto-started session becomes active when a pid is given. */
export type StartSource = (liveId: number, facts: SourceFacts) => TaskEither<LiveOver | Superseded | Unavailable, void>

export const startSource =
  (deps: WriteDeps): StartSource =>
  (liveId, facts) =>
    pipe(
      changeLive(deps)(liveId, { type: 'StartSource', ...facts, at: deps.environment.now() }),
      TE.map(() => undefined),
    )
