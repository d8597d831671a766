import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { liveKey, textKey } from '../../domain/live/events.ts'
import { segmentsStream } from '../../domain/transcript/events.ts'
import type { Unavailable } from '../errors.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Keyring } from '../ports/keyring.ts'

export interface EraseLiveDeps {
  readonly store: Pick<EventStore, 'deleteStream'>
  readonly keyring: Pick<Keyring, 'erase'>
}

/** Its URL, its tokens and its text can never be read again, wherever they are. Repeatable. */
export const eraseLive =
  ({ store, keyring }: EraseLiveDeps, liveId: number): TaskEither<Unavailable, void> =>
  async () => {
    const erased = await keyring.erase([liveKey(liveId), textKey(liveId)])()
    return E.isLeft(erased) ? erased : await store.deleteStream(segmentsStream(liveId))()
  }
