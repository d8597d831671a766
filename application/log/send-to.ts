import type { Either } from 'fp-ts/lib/Either.js'
import { administratorsDecider } from '../../domain/administrators/decider.ts'
import { ADMINISTRATORS_STREAM } from '../../domain/administrators/events.ts'
import { apiTokenDecider } from '../../domain/api-token/decider.ts'
import { apiTokenStream } from '../../domain/api-token/events.ts'
import { jobsDecider } from '../../domain/jobs/decider.ts'
import { JOBS_STREAM } from '../../domain/jobs/events.ts'
import { liveDecider } from '../../domain/live/decider.ts'
import { liveStream } from '../../domain/live/events.ts'
import { profilesDecider } from '../../domain/profiles/decider.ts'
import { profilesStream } from '../../domain/profiles/events.ts'
import type { CommandOf, DeciderByCommand, Named, RefusalsOf, Stamped } from '../../domain/shared/decider.ts'
import { userDecider } from '../../domain/user/decider.ts'
import { usernameStream, userStream } from '../../domain/user/events.ts'
import { usernameClaimDecider } from '../../domain/user/username-claim.ts'
import type { Unavailable } from '../refusals.ts'
import type { PlainEvent } from './event-serialization.ts'
import { handleCommand, type Handled, type WriteDeps } from './handle-command.ts'
import { type Origin, ownOrigin } from './origin.ts'

/**
 * Returns the function that sends commands to aggregates of one kind. It alone knows their stream and their decider,
 * and the time of a command. Left: a refusal that this command can meet, or a store is unavailable. Without an origin,
 * the command comes from this process itself. A write that is repeated keeps its origin and its time.
 */
const sendTo =
  <Id, State, Command extends Named, Event extends PlainEvent, Refusals extends RefusalsOf<Command>>(
    streamOf: (id: Id) => string,
    decider: DeciderByCommand<State, Command, Event, Refusals>,
  ) =>
  (deps: WriteDeps) =>
  async <Type extends Command['type']>(
    id: Id,
    command: CommandOf<Command, Type>,
    origin: Origin = ownOrigin(deps),
    at = deps.environment.now(),
  ): Promise<Either<Refusals[Type] | Unavailable, Handled<State, Event>>> => {
    const request = { ...origin, stream: streamOf(id), decider, command: { ...command, at } }
    return await handleCommand(deps)<State, Stamped<CommandOf<Command, Type>>, Event, Refusals[Type]>(request)
  }

/** By the id of the session. */
export const sendToSession = sendTo(liveStream, liveDecider)
/** By the id of the user. */
export const sendToUser = sendTo(userStream, userDecider)
/** By the hash of the name. */
export const sendToUsername = sendTo(usernameStream, usernameClaimDecider)
export const sendToAdministrators = sendTo(() => ADMINISTRATORS_STREAM, administratorsDecider)
/** By the id of their user. */
export const sendToProfiles = sendTo(profilesStream, profilesDecider)
export const sendToToken = sendTo(apiTokenStream, apiTokenDecider)
export const sendToJobs = sendTo(() => JOBS_STREAM, jobsDecider)
