import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { textKey } from '../../../domain/live/events.ts'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeLive } from '../change-live.ts'

/**
 * pending → active, with the first audio; nothing to do when it is active already. The key of its text is asked for beside
 * it, so that finals are stored also while the keyring cannot be asked: a worker that loses it may not be the last to hear.
 */
export type StartLive = (liveId: number, term: number) => TaskEither<LiveOver | Superseded | Unavailable, void>

export const startLive =
  (deps: WriteDeps): StartLive =>
  (liveId, term) =>
  async () => {
    // Where there is none by then, the first final asks again and tells why.
    void deps.keyring.seal(textKey(liveId), [])()
    const started = await changeLive(deps)(liveId, { type: 'StartLive', term, at: deps.environment.now() })()
    return E.map(() => undefined)(started)
  }
