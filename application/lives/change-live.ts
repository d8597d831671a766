import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { LiveCommand } from '../../domain/live/commands.ts'
import { liveDecider } from '../../domain/live/decider.ts'
import type { LiveState } from '../../domain/live/state.ts'
import { liveStream } from '../../domain/live/events.ts'
import type { LiveOver, Superseded, Unavailable } from '../errors.ts'
import { handleCommand } from '../log/handle-command.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { ownOrigin } from '../log/origin.ts'
import type { Origin } from '../log/origin.ts'
import { unexpected } from '../log/unexpected.ts'

/** Handles a command for a session that this process runs. Returns the new state once the event is stored. */
export const changeLive =
  (deps: WriteDeps) =>
  async (
    liveId: number,
    command: LiveCommand,
    origin: Origin = ownOrigin(deps),
  ): Promise<Either<LiveOver | Superseded | Unavailable, LiveState>> => {
    const stream = liveStream(liveId)
    const handled = await handleCommand(deps)({ ...origin, stream, decider: liveDecider, command })
    if (E.isRight(handled)) return E.right(handled.right.state)
    const refusal = handled.left
    // The session was deleted after its token was resolved. Callers treat it as ended.
    if (refusal._tag === 'LiveUnknown') return E.left({ _tag: 'LiveOver' })
    if (refusal._tag === 'AlreadyCreated') throw unexpected(stream, refusal)
    if (refusal._tag === 'LiveOver' || refusal._tag === 'Superseded') return E.left({ _tag: refusal._tag })
    return E.left(refusal)
  }
