import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { EventOf } from '../shared/event.ts'
import type { Permission, UserEvent, UserRegistered } from './events.ts'

type UserRegisteredData = EventOf<typeof UserRegistered>['data']

/** A user as registered and changed since. */
export interface User extends Omit<UserRegisteredData, 'at'> {
  readonly status: 'active' | 'disabled'
  /** Begins at 0; a JWT of an earlier generation is refused. */
  readonly generation: number
  readonly createdAt: string
  /** When anything that somebody sees last changed; null until then. */
  readonly updatedAt: string | null
}

/** `deleted`: to the outside it never existed, and it never comes back. */
export type UserState = { readonly status: 'none' } | { readonly status: 'deleted' } | User

/** What an administrator changes of a user; what is undefined stays. */
export interface UserChanges {
  readonly maxSessions?: number | undefined
  readonly maxTranslations?: number | undefined
  readonly permissions?: ReadonlyArray<Permission> | undefined
  readonly passwordHash?: string | undefined
  readonly isActive?: boolean | undefined
}

export type UserCommand =
  | { readonly type: 'Register'; readonly data: UserRegisteredData }
  /** `generation`: of the password that was shown to be known; another one means that it has changed since. */
  | { readonly type: 'ChangePassword'; readonly passwordHash: string; readonly generation?: number; readonly at: string }
  /** Counts only while the old hash is still that of the password. */
  | { readonly type: 'Rehash'; readonly oldHash: string; readonly passwordHash: string; readonly at: string }
  | { readonly type: 'EndLogins'; readonly at: string }
  /** All of it at once or nothing. */
  | ({ readonly type: 'Change'; readonly changes: UserChanges; readonly at: string } & Administration)
  | ({ readonly type: 'Delete'; readonly at: string } & Administration)

/** What the user's own stream does not tell. */
interface Administration {
  /** No other active user administers: an administrator must stay one. */
  readonly nobodyElseAdministers?: boolean
}

export type UserRefusal =
  | { readonly _tag: 'AlreadyRegistered' }
  | { readonly _tag: 'UserUnknown' }
  | { readonly _tag: 'PasswordOutdated' }
  | { readonly _tag: 'LastAdministrator' }

type Decision = Either<UserRefusal, ReadonlyArray<UserEvent>>

interface About {
  readonly userId: number
  readonly at: string
}

const newLimits = (user: User, changes: UserChanges, about: About): ReadonlyArray<UserEvent> => {
  const { maxSessions = user.maxSessions, maxTranslations = user.maxTranslations } = changes
  const isSame = maxSessions === user.maxSessions && maxTranslations === user.maxTranslations
  return isSame ? [] : [{ type: 'UserLimitsChanged', data: { ...about, maxSessions, maxTranslations } }]
}

const newPermissions = (user: User, { permissions }: UserChanges, about: About): ReadonlyArray<UserEvent> => {
  const wanted = Array.from(new Set(permissions ?? user.permissions))
  const isSame = wanted.length === user.permissions.length && wanted.every((one) => user.permissions.includes(one))
  return isSame ? [] : [{ type: 'UserPermissionsChanged', data: { ...about, permissions: wanted } }]
}

/** Also to the same password: whoever sets one wants the earlier JWTs to end. */
const newPassword = (user: User, passwordHash: string | undefined, about: About): ReadonlyArray<UserEvent> =>
  passwordHash === undefined ? [] : [{ type: 'PasswordChanged', data: { ...about, passwordHash, generation: user.generation + 1 } }]

const newStatus = (user: User, isActive: boolean | undefined, about: About): ReadonlyArray<UserEvent> => {
  if (isActive === undefined || isActive === (user.status === 'active')) return []
  return [{ type: isActive ? 'UserEnabled' : 'UserDisabled', data: about }]
}

const decideRegistered = (command: Exclude<UserCommand, { readonly type: 'Register' }>, user: User): Decision => {
  const about = { userId: user.userId, at: command.at }
  switch (command.type) {
    case 'ChangePassword':
      return command.generation === undefined || command.generation === user.generation
        ? E.right(newPassword(user, command.passwordHash, about))
        : E.left({ _tag: 'PasswordOutdated' })
    case 'Rehash': {
      const { oldHash, passwordHash } = command
      return E.right(oldHash === user.passwordHash ? [{ type: 'PasswordRehashed', data: { ...about, passwordHash } }] : [])
    }
    case 'EndLogins':
      return E.right([{ type: 'LoginsEnded', data: { ...about, generation: user.generation + 1 } }])
    case 'Change': {
      const { changes } = command
      return E.right([
        ...newLimits(user, changes, about),
        ...newPermissions(user, changes, about),
        ...newPassword(user, changes.passwordHash, about),
        ...newStatus(user, changes.isActive, about),
      ])
    }
    case 'Delete':
      return E.right([{ type: 'UserDeleted', data: { ...about, usernameHash: user.usernameHash } }])
  }
}

/** A user who was registered and not deleted. */
export const isUser = (state: UserState): state is User => state.status === 'active' || state.status === 'disabled'

const register = ({ at, ...data }: UserRegisteredData): User => ({
  ...data,
  status: 'active',
  generation: 0,
  createdAt: at,
  updatedAt: null,
})

/** Events that the rules never make (a change before the registration, a second registration, anything after the deletion) change nothing. */
const evolve = (state: UserState, event: UserEvent): UserState => {
  if (state.status === 'none') return event.type === 'UserRegistered' ? register(event.data) : state
  if (state.status === 'deleted') return state
  const updatedAt = event.data.at
  switch (event.type) {
    case 'UserRegistered':
      return state
    case 'PasswordChanged':
      return { ...state, passwordHash: event.data.passwordHash, generation: event.data.generation, updatedAt }
    case 'PasswordRehashed':
      return { ...state, passwordHash: event.data.passwordHash }
    case 'LoginsEnded':
      return { ...state, generation: event.data.generation }
    case 'UserLimitsChanged':
      return { ...state, maxSessions: event.data.maxSessions, maxTranslations: event.data.maxTranslations, updatedAt }
    case 'UserPermissionsChanged':
      return { ...state, permissions: event.data.permissions, updatedAt }
    case 'UserDisabled':
      return { ...state, status: 'disabled', updatedAt }
    case 'UserEnabled':
      return { ...state, status: 'active', updatedAt }
    case 'UserDeleted':
      return { status: 'deleted' }
  }
}

/** Active, with the permission. */
export const administers = (state: UserState): boolean => state.status === 'active' && state.permissions.includes('admin')

const leavesNobody = (command: UserCommand, user: User, events: ReadonlyArray<UserEvent>): boolean =>
  'nobodyElseAdministers' in command &&
  command.nobodyElseAdministers &&
  administers(user) &&
  !administers(events.reduce<UserState>(evolve, user))

const decide = (command: UserCommand, state: UserState): Decision => {
  if (command.type === 'Register') {
    if (state.status !== 'none') return E.left({ _tag: 'AlreadyRegistered' })
    return E.right([{ type: 'UserRegistered', data: command.data }])
  }
  if (!isUser(state)) return E.left({ _tag: 'UserUnknown' })
  const decided = decideRegistered(command, state)
  return E.isRight(decided) && leavesNobody(command, state, decided.right) ? E.left({ _tag: 'LastAdministrator' }) : decided
}

/**
 * One user: registered once, then limits, permissions and passwords change (a new password ends the earlier JWTs, as a
 * log-out everywhere does), disabled and enabled, perhaps deleted.
 */
export const userDecider: Decider<UserState, UserCommand, UserEvent, UserRefusal> = { initialState: { status: 'none' }, evolve, decide }
