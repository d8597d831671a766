import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { liveDecider } from '../../domain/live/decider.ts'
import { exists } from '../../domain/live/state.ts'
import type { Live, LiveState } from '../../domain/live/state.ts'
import { liveStream } from '../../domain/live/events.ts'
import type { LiveEvent } from '../../domain/live/events.ts'
import type { Unavailable } from '../errors.ts'
import { loadState } from '../log/handle-command.ts'
import type { Loaded, WriteDeps } from '../log/handle-command.ts'

/** Reads the whole stream of a session and folds it. */
export const loadLive = (
  deps: Pick<WriteDeps, 'store' | 'keyring'>,
  liveId: number,
): TaskEither<Unavailable, Loaded<LiveState, LiveEvent>> =>
  loadState(deps)<LiveState, LiveEvent>(liveStream(liveId), liveDecider)

export const isOwned = (state: LiveState, userId: number): state is Live =>
  exists(state) && state.created.userId === userId

export const isOpen = ({ status }: Live): boolean => status === 'pending' || status === 'active'
