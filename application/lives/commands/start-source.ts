import * as E from 'fp-ts/lib/Either.js'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { ownOrigin, type Repeatable } from '../../log/origin.ts'
import { changeLive } from '../change-live.ts'
import type { SourcePoint } from '../source-point.ts'

/** The point in a session where a process began to pull the source. */
export interface SourceFacts extends SourcePoint {
  /** Process id, which the interface shows only for auto-started sessions. Null for all other sessions. */
  readonly pid: number | null
  readonly term: number
}

/** Records the start of a source process. An auto-started session becomes active when a pid is given. */
export type StartSource = (liveId: number, facts: SourceFacts) => Repeatable<LiveOver | Superseded | Unavailable, void>

export const startSource =
  (deps: WriteDeps): StartSource =>
  (liveId, facts) => {
    const [origin, at] = [ownOrigin(deps), deps.environment.now()]
    const command = { type: 'StartSource', ...facts } as const
    return async () => E.map(() => undefined)(await changeLive(deps)(liveId, command, origin, at))
  }
