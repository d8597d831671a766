import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { LiveCommand, LiveOver, Superseded } from '../../domain/live/commands.ts'
import type { LiveState } from '../../domain/live/state.ts'
import type { CommandOf } from '../../domain/shared/decider.ts'
import type { Unavailable } from '../errors.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { mapRefusal } from '../log/map-refusal.ts'
import { type Origin, ownOrigin } from '../log/origin.ts'
import { sendToSession } from '../log/send-to.ts'

type StartCommand = CommandOf<
  LiveCommand, 'AttachSender' | 'TakeOverLive' | 'ChangeVocabulary' | 'StartSource' | 'StartLive'
>

const over: LiveOver = { _tag: 'LiveOver' }

/** Sends a command to a session that this process runs. Every attempt of one write has the same origin and time. */
export const changeLive =
  (deps: WriteDeps) =>
  async (
    liveId: number,
    command: StartCommand,
    origin: Origin = ownOrigin(deps),
    at: string = deps.environment.now(),
  ): Promise<Either<LiveOver | Superseded | Unavailable, LiveState>> => {
    const sent = await sendToSession(deps)(liveId, command, origin, at)
    // The session was deleted after its token was resolved. Callers treat it as ended.
    return E.isLeft(sent) ? E.left(mapRefusal(sent.left, { LiveUnknown: over })) : E.right(sent.right.state)
  }
