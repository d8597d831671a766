import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { MAX_PROFILES, profilesDecider } from '../../../domain/profiles/decider.ts'
import type { Profile, ProfilesCommand, ProfilesRefusal, ProfilesState } from '../../../domain/profiles/decider.ts'
import { ProfileAdded, ProfileChanged, profilesStream } from '../../../domain/profiles/events.ts'
import { userKey } from '../../../domain/user/events.ts'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import type { BuffersNotOrdered, LastProfile, ProfileNotFound, TooManyProfiles, Unavailable } from '../../errors.ts'
import { createKnownStates, handleCommand } from '../../log/handle-command.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { textOrErased } from '../../../domain/shared/erased.ts'
import type { Documents } from '../../ports/documents.ts'
import type { Projector } from '../../ports/projector.ts'
import { PROFILES } from '../../ports/read-models.ts'
import type { ProfilesDocument, ProfileView } from '../../ports/read-models.ts'
import { nextId } from '../../log/next-id.ts'
import type { ProfileChange } from '../../requests.ts'
import type { Services } from '../../services.ts'
import { createTurns } from '../../turns.ts'

export interface ProfileDeps extends WriteDeps {
  readonly documents: Pick<Documents, 'get'>
  readonly projector: Pick<Projector, 'whenProjected'>
}

type Profiles = Pick<Services, 'listProfiles' | 'getProfile' | 'createProfile' | 'changeProfile' | 'removeProfile'>
type Sealed = ProfilesDocument['profiles'][number]

/** Users whose profiles stay folded in memory: a history only grows. */
const MOST_KNOWN = 500

/** What a profile's name was sealed as. */
const NAMES = [`${ProfileAdded.type}.name`, `${ProfileChanged.type}.name`]

const notFound: ProfileNotFound = { _tag: 'ProfileNotFound' }
const tooMany: TooManyProfiles = { _tag: 'TooManyProfiles', maximum: MAX_PROFILES }

const viewOf = ({ profileId, name, settings, createdAt, updatedAt }: Profile): ProfileView => ({
  id: profileId, name, settings, createdAt, updatedAt,
})

/** A refusal in the words of the routes; one without a meaning cannot come of the command. */
const told = <R>(
  left: ProfilesRefusal | Unavailable,
  meanings: Partial<Record<ProfilesRefusal['_tag'], R>>,
): E.Either<R | Unavailable, never> => {
  switch (left._tag) {
    case 'ProfileExists':
    case 'ProfileUnknown':
    case 'TooManyProfiles':
    case 'LastProfile':
    case 'BuffersNotOrdered': {
      const meaning = meanings[left._tag]
      if (meaning === undefined) throw new Error(`the profiles refused with ${left._tag}`)
      return E.left(meaning)
    }
    default:
      return E.left(left)
  }
}

const sentBuffer = ({ settings }: Pick<ProfileChange, 'settings'>): BuffersNotOrdered => ({
  _tag: 'BuffersNotOrdered',
  member: settings.min_buffer === undefined ? 'max_buffer' : 'min_buffer',
})

/** A user's saved engine settings: their whole set is one aggregate and one document. */
export const createProfiles = (deps: ProfileDeps): Profiles => {
  const { environment, keyring, documents, projector } = deps
  const handle = handleCommand(deps)
  const inTurn = createTurns()
  const knownStates = createKnownStates<ProfilesState>(MOST_KNOWN)

  const openAll = (
    { userId }: Caller,
    sealed: ReadonlyArray<Sealed>,
  ): TaskEither<Unavailable, ReadonlyArray<ProfileView>> => async () => {
    const place = { key: userKey(userId), stream: profilesStream(userId), members: NAMES }
    const opened = await keyring.open(sealed.map(({ name: envelope }) => ({ envelope, ...place })))()
    if (E.isLeft(opened)) return opened
    return E.right(sealed.map((profile, index) => ({ ...profile, name: textOrErased(opened.right[index]) })))
  }

  const sealedOf = ({ userId }: Caller): TaskEither<Unavailable, ReadonlyArray<Sealed>> => async () => {
    const found = await documents.get(PROFILES, String(userId))()
    if (E.isLeft(found)) return found
    // A collection holds what its projection alone wrote into it, so its type is the projection's.
    return E.right(O.isSome(found.right) ? (found.right.value as unknown as ProfilesDocument).profiles : [])
  }

  const send =
    (caller: Caller, command: ProfilesCommand, commandId: string): TaskEither<ProfilesRefusal | Unavailable, ProfilesState> =>
    async () => {
      const stream = profilesStream(caller.userId)
      const about = { commandId, correlationId: commandId, actor: actorOf(caller) }
      const handled = await inTurn(stream, handle({ stream, decider: profilesDecider, command, knownStates, ...about }))
      if (E.isLeft(handled)) return handled
      if (handled.right.position !== null) await projector.whenProjected(handled.right.position)
      return E.right(handled.right.state)
    }

  return {
    listProfiles: (caller, { skip, limit }) => async () => {
      const sealed = await sealedOf(caller)()
      if (E.isLeft(sealed)) return sealed
      const items = await openAll(caller, sealed.right.slice(skip, skip + limit))()
      return E.isLeft(items) ? items : E.right({ items: items.right, total: sealed.right.length })
    },

    getProfile: (caller, profileId) => async () => {
      const sealed = await sealedOf(caller)()
      if (E.isLeft(sealed)) return sealed
      const opened = await openAll(caller, sealed.right.filter(({ id }) => id === profileId))()
      return E.isLeft(opened) ? opened : E.fromNullable(notFound)(opened.right[0])
    },

    createProfile: (caller, { name, settings }) => async () => {
      const { userId } = caller
      const commandId = environment.newId()
      const profileId = await nextId(deps)('profile', { correlationId: commandId, causationId: commandId, actor: `user:${userId}` })()
      if (E.isLeft(profileId)) return profileId
      const at = environment.now()
      const added = await send(caller, { type: 'AddProfile', profileId: profileId.right, userId, name, settings, at }, commandId)()
      if (E.isLeft(added)) return told<BuffersNotOrdered | TooManyProfiles>(added.left, { BuffersNotOrdered: sentBuffer({ settings }), TooManyProfiles: tooMany })
      return E.right({ id: profileId.right, name, settings, createdAt: at, updatedAt: null })
    },

    changeProfile: (caller, profileId, change) => async () => {
      const changed = await send(caller, { type: 'ChangeProfile', profileId, ...change, at: environment.now() }, environment.newId())()
      if (E.isLeft(changed))
        return told<ProfileNotFound | BuffersNotOrdered>(changed.left, { ProfileUnknown: notFound, BuffersNotOrdered: sentBuffer(change) })
      return E.fromNullable(notFound)(changed.right.filter((profile) => profile.profileId === profileId).map(viewOf)[0])
    },

    removeProfile: (caller, profileId) => async () => {
      const removed = await send(caller, { type: 'RemoveProfile', profileId, at: environment.now() }, environment.newId())()
      if (E.isRight(removed)) return E.right(undefined)
      return told<ProfileNotFound | LastProfile>(removed.left, { ProfileUnknown: notFound, LastProfile: { _tag: 'LastProfile' } })
    },
  }
}
