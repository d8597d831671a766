import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import type { Decider } from '../shared/decider.ts'
import type { EventOf } from '../shared/event.ts'
import { permission, userKey } from './events.ts'
import type { Permission, UserEvent, UserRegistered } from './events.ts'

type UserRegisteredData = EventOf<typeof UserRegistered>['data']

/** A registered user. */
export interface User extends Omit<UserRegisteredData, 'at'> {
  readonly status: 'active' | 'disabled'
  /**
   * Begins at 0 and rises with each new password, each logout everywhere, and when a disabled user is enabled. Login
   * tokens of an earlier generation are refused.
   */
  readonly generation: number
  readonly createdAt: string
  /** When a visible member last changed. Null until then. */
  readonly updatedAt: string | null
  /** Revision of the user's newest event. */
  readonly revision: number
  /** Revision of the event that made the user an active administrator. Null while the user is not one. */
  readonly administersSince: number | null
}

/** A deleted user can never be registered again. */
export type UserState = { readonly status: 'none' } | { readonly status: 'deleted' } | User

/** Changes by an administrator. Missing members stay unchanged. */
export interface UserChanges {
  readonly maxSessions?: number | undefined
  readonly maxTranslations?: number | undefined
  readonly permissions?: ReadonlyArray<Permission> | undefined
  readonly passwordHash?: string | undefined
  readonly isActive?: boolean | undefined
}

export type UserCommand =
  | { readonly type: 'Register'; readonly data: UserRegisteredData }
  /**
   * `generation`: the user's generation when the old password was checked. The command is refused if the generation has
   * changed in the meantime.
   */
  | {
      readonly type: 'ChangePassword'
      readonly passwordHash: string
      readonly generation?: number
      readonly at: string
    }
  /** Changes nothing when the password changed in the meantime. */
  | { readonly type: 'Rehash'; readonly oldHash: string; readonly passwordHash: string; readonly at: string }
  | { readonly type: 'EndLogins'; readonly at: string }
  /** Makes all changes or none. */
  | ({ readonly type: 'Change'; readonly changes: UserChanges; readonly at: string } & OtherUsers)
  | ({ readonly type: 'Delete'; readonly at: string } & OtherUsers)

/** A fact about other users, which the user's own stream does not contain. */
interface OtherUsers {
  /** True when no other active user is an administrator. Then this user must stay an administrator. */
  readonly nobodyElseAdministers?: boolean
}

export type UserRefusal =
  | { readonly _tag: 'AlreadyRegistered' }
  | { readonly _tag: 'UserUnknown' }
  | { readonly _tag: 'PasswordOutdated' }
  | { readonly _tag: 'LastAdministrator' }

type Decision = Either<UserRefusal, ReadonlyArray<UserEvent>>

/** Members that all events of a user have. */
interface CommonMembers {
  readonly userId: number
  readonly at: string
}

const newLimits = (user: User, changes: UserChanges, common: CommonMembers): ReadonlyArray<UserEvent> => {
  const { maxSessions = user.maxSessions, maxTranslations = user.maxTranslations } = changes
  const isSame = maxSessions === user.maxSessions && maxTranslations === user.maxTranslations
  return isSame ? [] : [{ type: 'UserLimitsChanged', data: { ...common, maxSessions, maxTranslations } }]
}

const newPermissions = (user: User, { permissions }: UserChanges, common: CommonMembers): ReadonlyArray<UserEvent> => {
  const wanted = Array.from(new Set(permissions ?? user.permissions))
  const isSame = wanted.length === user.permissions.length && wanted.every((name) => user.permissions.includes(name))
  return isSame ? [] : [{ type: 'UserPermissionsChanged', data: { ...common, permissions: wanted } }]
}

/** Setting the same password again is also a change, because it ends the earlier logins. */
const newPassword = (user: User, passwordHash: string | undefined, common: CommonMembers): ReadonlyArray<UserEvent> => {
  if (passwordHash === undefined) return []
  return [{ type: 'PasswordChanged', data: { ...common, passwordHash, generation: user.generation + 1 } }]
}

const loginsEnded = (user: User, common: CommonMembers): UserEvent =>
  ({ type: 'LoginsEnded', data: { ...common, generation: user.generation + 1 } })

/**
 * Enabling a user ends the logins from before the user was disabled, because they may be stolen. The event is appended
 * now and not when the user is disabled, so it also covers users whom an earlier version disabled.
 */
const newStatus = (
  user: User,
  { isActive, passwordHash }: UserChanges,
  common: CommonMembers,
): ReadonlyArray<UserEvent> => {
  if (isActive === undefined || isActive === (user.status === 'active')) return []
  if (!isActive) return [{ type: 'UserDisabled', data: common }]
  // A new password in the same command has ended them already.
  const ended = passwordHash === undefined ? [loginsEnded(user, common)] : []
  return [...ended, { type: 'UserEnabled', data: common }]
}

const decideRegistered = (command: Exclude<UserCommand, { readonly type: 'Register' }>, user: User): Decision => {
  const common = { userId: user.userId, at: command.at }
  switch (command.type) {
    case 'ChangePassword':
      return command.generation === undefined || command.generation === user.generation
        ? E.right(newPassword(user, command.passwordHash, common))
        : E.left({ _tag: 'PasswordOutdated' })
    case 'Rehash': {
      const { oldHash, passwordHash } = command
      if (oldHash !== user.passwordHash) return E.right([])
      return E.right([{ type: 'PasswordRehashed', data: { ...common, passwordHash } }])
    }
    case 'EndLogins':
      return E.right([loginsEnded(user, common)])
    case 'Change': {
      const { changes } = command
      return E.right([
        ...newLimits(user, changes, common),
        ...newPermissions(user, changes, common),
        ...newPassword(user, changes.passwordHash, common),
        ...newStatus(user, changes, common),
      ])
    }
    case 'Delete':
      return E.right([{ type: 'UserDeleted', data: { ...common, usernameHash: user.usernameHash } }])
  }
}

/** True for an active user with the permission `admin`. */
export const administers = (state: Pick<User, 'status' | 'permissions'> | UserState): boolean =>
  state.status === 'active' && state.permissions.includes('admin')

const withRevision = (
  revision: number, since: number | null, user: Omit<User, 'revision' | 'administersSince'>,
): User => ({ ...user, revision, administersSince: administers(user) ? (since ?? revision) : null })

/** True for a user who was registered and not deleted. */
export const isUser = (state: UserState): state is User => state.status === 'active' || state.status === 'disabled'

const register = ({ at, ...data }: UserRegisteredData): User =>
  withRevision(0, null, { ...data, status: 'active', generation: 0, createdAt: at, updatedAt: null })

const changed = (user: User, event: Exclude<UserEvent, { readonly type: 'UserDeleted' }>): User => {
  const updatedAt = event.data.at
  switch (event.type) {
    case 'UserRegistered':
      return user
    case 'PasswordChanged':
      return { ...user, passwordHash: event.data.passwordHash, generation: event.data.generation, updatedAt }
    case 'PasswordRehashed':
      return { ...user, passwordHash: event.data.passwordHash }
    case 'LoginsEnded':
      return { ...user, generation: event.data.generation }
    case 'UserLimitsChanged':
      return { ...user, maxSessions: event.data.maxSessions, maxTranslations: event.data.maxTranslations, updatedAt }
    case 'UserPermissionsChanged':
      return { ...user, permissions: event.data.permissions, updatedAt }
    case 'UserDisabled':
      return { ...user, status: 'disabled', updatedAt }
    case 'UserEnabled':
      return { ...user, status: 'active', updatedAt }
  }
}

/** Ignores events that `decide` never returns, such as a second registration or any event after the deletion. */
const evolve = (state: UserState, event: UserEvent): UserState => {
  if (state.status === 'none') return event.type === 'UserRegistered' ? register(event.data) : state
  if (state.status === 'deleted') return state
  if (event.type === 'UserDeleted') return { status: 'deleted' }
  return withRevision(state.revision + 1, state.administersSince, changed(state, event))
}

const leavesNoAdministrator = (command: UserCommand, user: User, events: ReadonlyArray<UserEvent>): boolean =>
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
  return pipe(
    decideRegistered(command, state),
    E.filterOrElseW(
      (events) => !leavesNoAdministrator(command, state, events),
      () => ({ _tag: 'LastAdministrator' as const }),
    ),
  )
}

const userState: t.Type<UserState, unknown> = t.union([
  t.strict({ status: t.keyof({ none: null, deleted: null }) }),
  t.strict({
    status: t.keyof({ active: null, disabled: null }),
    userId: id,
    username: t.string,
    usernameHash: t.string,
    passwordHash: t.string,
    permissions: t.readonlyArray(permission),
    maxSessions: boundedInteger(0, 1e6),
    maxTranslations: boundedInteger(0, 1e6),
    generation: boundedInteger(0, 1e9),
    createdAt: instant,
    updatedAt: t.union([instant, t.null]),
    revision: boundedInteger(0, Number.MAX_SAFE_INTEGER),
    administersSince: t.union([boundedInteger(0, Number.MAX_SAFE_INTEGER), t.null]),
  }),
])

/** The rules of one user account. A new password, a logout everywhere and enabling the user end all earlier logins. */
export const userDecider: Decider<UserState, UserCommand, UserEvent, UserRefusal> = {
  initialState: { status: 'none' },
  evolve,
  decide,
  snapshots: {
    version: 1,
    codec: userState,
    keyOf: (state) => (isUser(state) ? userKey(state.userId) : null),
    isKept: false,
  },
}
