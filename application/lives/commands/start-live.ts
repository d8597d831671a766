import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { textKey } from '../../../domain/live/events.ts'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeLive } from '../change-live.ts'

/**
 * Makes a pending session active, with its first audio. Does nothing when the session is active already.
 * Also creates the key for the text at this point, so finals can be stored while the keyring is unavailable.
 */
export type StartLive = (liveId: number, term: number) => TaskEither<LiveOver | Superseded | Unavailable, void>

export const startLive =
  (deps: WriteDeps): StartLive =>
  (liveId, term) =>
  async () => {
    // The result is ignored: without a key the first final tries again and reports the error.
    void deps.keyring.seal(textKey(liveId), [])()
    const started = await changeLive(deps)(liveId, { type: 'StartLive', term, at: deps.environment.now() })()
    return E.map(() => undefined)(started)
  }
