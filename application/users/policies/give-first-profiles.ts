import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import { profilesStream } from '../../../domain/profiles/events.ts'
import { FIRST_PROFILE_NAME, firstProfileDecider } from '../../../domain/profiles/first-profile.ts'
import { isHurt } from '../../errors.ts'
import type { Unavailable } from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { nextId } from '../../log/next-id.ts'
import { ownOrigin } from '../../log/origin.ts'
import type { Origin } from '../../log/origin.ts'
import type { Position } from '../../ports/event-store.ts'
import type { UserDirectory } from './user-directory.ts'

/** The position of its event, null where the user had one. */
export const giveFirstProfile =
  (deps: WriteDeps) =>
  (userId: number, origin: Origin): TaskEither<Unavailable, Position | null> =>
  async () => {
    const { commandId, actor } = origin
    const profileId = await nextId(deps)('profile', { correlationId: commandId, causationId: commandId, actor })()
    if (E.isLeft(profileId)) return profileId
    const first = { userId, name: FIRST_PROFILE_NAME, settings: DEFAULT_ENGINE_SETTINGS, at: deps.environment.now() }
    const command = { profileId: profileId.right, ...first }
    const stream = profilesStream(userId)
    const added = await handleCommand(deps)({ ...origin, stream, decider: firstProfileDecider, command })()
    return E.isLeft(added) ? added : E.right(added.right.position)
  }

/** Gives every known user without a profile the first one, and says how many that were; costs nothing when repeated. */
export type GiveFirstProfiles = () => TaskEither<Unavailable, number>

export interface GiveFirstProfilesDeps extends WriteDeps {
  readonly directory: Pick<UserDirectory, 'ids'>
}

/** An erased user needs no profile, and of one who cannot be read the others hear nothing. */
const canWait = (left: Unavailable): boolean => left._tag === 'KeyErased' || left._tag === 'KeyMissing' || isHurt(left)

/** What a registration that was broken off left to do. */
export const giveFirstProfiles = (deps: GiveFirstProfilesDeps): GiveFirstProfiles => {
  const complete = new Set<number>()

  return () => async () => {
    let count = 0
    for (const userId of deps.directory.ids().filter((id) => !complete.has(id))) {
      const known = await deps.store.read(profilesStream(userId), { limit: 1 })()
      if (E.isLeft(known) && isHurt(known.left)) continue
      if (E.isLeft(known)) return known
      if (known.right.length === 0) {
        const added = await giveFirstProfile(deps)(userId, ownOrigin(deps))()
        if (E.isLeft(added) && !canWait(added.left)) return added
        if (E.isRight(added) && added.right !== null) count += 1
      }
      complete.add(userId)
    }
    return E.right(count)
  }
}
