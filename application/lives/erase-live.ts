import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { liveKey, liveStream, textKey } from '../../domain/live/events.ts'
import { segmentsStream } from '../../domain/transcript/events.ts'
import type { Unavailable } from '../errors.ts'
import { deleteSnapshots } from '../log/states/stream-snapshots.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Keyring } from '../ports/keyring.ts'

export interface EraseLiveDeps {
  readonly store: Pick<EventStore, 'read' | 'deleteStream'>
  readonly keyring: Pick<Keyring, 'erase'>
}

/** Erases the keys of a session, so its URL, tokens and text become unreadable in every copy. May be repeated. */
export const eraseLive =
  ({ store, keyring }: EraseLiveDeps, liveId: number): Promise<Either<Unavailable, void>> =>
    pipe(
      () => keyring.erase([liveKey(liveId), textKey(liveId)]),
      TE.chainW(() => () => store.deleteStream(segmentsStream(liveId))),
      TE.chainW(() => () => deleteSnapshots(store, liveStream(liveId))),
    )()
