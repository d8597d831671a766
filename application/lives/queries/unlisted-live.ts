import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import { liveDecider } from '../../../domain/live/decider.ts'
import { LiveDeleted, type LiveEvent, liveStream } from '../../../domain/live/events.ts'
import { exists, type LiveState } from '../../../domain/live/state.ts'
import { type LoadDeps, loadReadable } from '../../log/states/load-state.ts'
import type { UnlistedLive } from '../../ports/read-models.ts'
import { viewOf } from './live-view.ts'

/** Reads a session as commands do, so a long stream costs no more than a short one. Skips damaged events. */
export const unlistedLive =
  (deps: LoadDeps): UnlistedLive =>
  async (liveId) => {
    // The snapshots of a deleted session are gone, and its many events need not be read.
    const newest = await deps.store.read(liveStream(liveId), { direction: 'backwards', limit: 1 })
    if (E.isRight(newest) && newest.right[0]?.type === LiveDeleted.type) return E.right(O.none)
    return pipe(
      await loadReadable(deps)<LiveState, LiveEvent>(liveStream(liveId), liveDecider),
      E.map(({ state }) => (exists(state) ? O.some(viewOf(state)) : O.none)),
    )
  }
