import type { Either } from 'fp-ts/lib/Either.js'
import { liveDecider } from '../../domain/live/decider.ts'
import { exists, type Live, type LiveState } from '../../domain/live/state.ts'
import { type LiveEvent, liveStream } from '../../domain/live/events.ts'
import type { Unavailable } from '../refusals.ts'
import type { Revision } from '../ports/event-store.ts'
import { type LoadDeps, loadState } from '../log/states/load-state.ts'
import type { Known } from '../log/states/known-states.ts'

/** Reads a session up to its newest event, or up to the event at revision `until`. */
export const loadLive = (
  deps: LoadDeps,
  liveId: number,
  until?: Revision,
): Promise<Either<Unavailable, Known<LiveState, LiveEvent>>> =>
  loadState(deps)<LiveState, LiveEvent>(liveStream(liveId), liveDecider, until === undefined ? {} : { until })

export const isOwned = (state: LiveState, userId: number): state is Live =>
  exists(state) && state.created.userId === userId
