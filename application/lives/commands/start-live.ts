import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeLive } from '../change-live.ts'

/** pending → active, with the first audio; nothing to do when it is active already. */
export type StartLive = (liveId: number, term: number) => TaskEither<LiveOver | Superseded | Unavailable, void>

export const startLive =
  (deps: WriteDeps): StartLive =>
  (liveId, term) =>
  async () => {
    const started = await changeLive(deps)(liveId, { type: 'StartLive', term, at: deps.environment.now() })()
    return E.map(() => undefined)(started)
  }
