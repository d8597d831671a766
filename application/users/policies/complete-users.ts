import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import { profilesStream } from '../../../domain/profiles/events.ts'
import { FIRST_PROFILE_NAME, firstProfileDecider } from '../../../domain/profiles/first-profile.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import {
  UserDeleted, UserDisabled, UserEnabled, UserPermissionsChanged, UserRegistered,
} from '../../../domain/user/events.ts'
import type { Unavailable } from '../../refusals.ts'
import { handleCommand, type WriteDeps } from '../../log/handle-command.ts'
import { type LogDutyDeps, type RunningDuty, startLogDuty } from '../../log/log-duty.ts'
import { nextId } from '../../log/next-id.ts'
import { type Origin, ownOrigin } from '../../log/origin.ts'
import type { Position, StoredEvent } from '../../ports/event-store.ts'
import type { Administrators } from '../administrators.ts'

/** Adds the first profile. Returns the position of its event, or null when the user already has a profile. */
export const addFirstProfile =
  (deps: WriteDeps) =>
  async (userId: number, origin: Origin): Promise<Either<Unavailable, Position | null>> => {
    const { commandId, actor } = origin
    const stream = profilesStream(userId)
    const existing = await deps.store.read(stream, { limit: 1 })
    if (E.isLeft(existing)) return existing
    if (existing.right.length > 0) return E.right(null)
    const profileId = await nextId(deps)('profile', { correlationId: commandId, causationId: commandId, actor })
    if (E.isLeft(profileId)) return profileId
    const first = { userId, name: FIRST_PROFILE_NAME, settings: DEFAULT_ENGINE_SETTINGS, at: deps.environment.now() }
    const command = { profileId: profileId.right, ...first }
    const added = await handleCommand(deps)({ ...origin, stream, decider: firstProfileDecider, command })
    return E.isLeft(added) ? added : E.right(added.right.position)
  }

export interface CompleteUsersDeps extends WriteDeps, Pick<LogDutyDeps, 'logger' | 'documents' | 'leases'> {
  readonly administrators: Pick<Administrators, 'synchronise'>
}

/** After this time the request that registered or changed the user has ended. */
const DELAY_MS = 60_000

const changeOf = eventReader([UserRegistered, UserPermissionsChanged, UserEnabled, UserDisabled, UserDeleted])

/** An erased user, or a user whose key is missing, gets no profile. */
const needsNoProfile = ({ _tag }: Unavailable): boolean => _tag === 'KeyErased' || _tag === 'KeyMissing'

const complete = async (deps: CompleteUsersDeps, event: StoredEvent): Promise<void> => {
  const change = changeOf(event)
  if (change === undefined) return
  const { userId } = change.data
  const origin = ownOrigin(deps)
  if (change.type === 'UserRegistered') {
    const added = await addFirstProfile(deps)(userId, origin)
    if (E.isLeft(added) && !needsNoProfile(added.left)) orThrow(added)
    if (!change.data.permissions.includes('admin')) return
  }
  orThrow(await deps.administrators.synchronise(userId, origin))
}

/**
 * Completes registrations and permission changes that a crash or an unavailable store interrupted. A minute after the
 * event it adds a missing first profile and corrects the list of administrators. Runs until stopped.
 */
export const completeUsers = (deps: CompleteUsersDeps): RunningDuty =>
  startLogDuty(deps, {
    name: 'complete-users',
    prefixes: ['user-'],
    concerns: (event) => changeOf(event) !== undefined,
    afterMs: DELAY_MS,
    perform: (event) => complete(deps, event),
    failure: 'registered users could not be completed; trying again',
  })
