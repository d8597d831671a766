import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
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
  async ({ store, keyring }: EraseLiveDeps, liveId: number): Promise<Either<Unavailable, void>> => {
    const erased = await keyring.erase([liveKey(liveId), textKey(liveId)])
    if (E.isLeft(erased)) return erased
    const deleted = await store.deleteStream(segmentsStream(liveId))
    return E.isLeft(deleted) ? deleted : await deleteSnapshots(store, liveStream(liveId))
  }
