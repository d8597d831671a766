import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { textKey } from '../../../domain/live/events.ts'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeLive } from '../change-live.ts'

/**
 * Makes a pending session active, when its first audio arrives. Does nothing when the session is already active. It
 * also creates the key for the text, so final segments can be stored later while the keyring is unavailable.
 */
export type StartLive = (liveId: number, term: number) => Promise<Either<LiveOver | Superseded | Unavailable, void>>

export const startLive =
  (deps: WriteDeps): StartLive =>
  async (liveId, term) => {
    // The result is ignored, because without a key the first final segment tries again and reports the error.
    void deps.keyring.seal(textKey(liveId), [])
    const started = await changeLive(deps)(liveId, { type: 'StartLive', term })
    return E.map(() => undefined)(started)
  }
