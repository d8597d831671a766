import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { decideBy, type DeciderByCommand, type Decisions } from '../shared/decider.ts'
import type { EventOf } from '../shared/event.ts'
import { type Permission, permission, type UserEvent, userKey, type UserRegistered } from './events.ts'

type UserRegisteredData = EventOf<typeof UserRegistered>['data']

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
  | { readonly type: 'Register'; readonly data: Omit<UserRegisteredData, 'at'> }
  /**
   * `generation`: the user's generation when the old password was checked. The command is refused if the generation has
   * changed in the meantime.
   */
  | { readonly type: 'ChangePassword'; readonly passwordHash: string; readonly generation?: number }
  /** Changes nothing when the password changed in the meantime. */
  | { readonly type: 'Rehash'; readonly oldHash: string; readonly passwordHash: string }
  | { readonly type: 'EndLogins' }
  /** Makes all changes or none. */
  | ({ readonly type: 'Change'; readonly changes: UserChanges } & OtherUsers)
  | ({ readonly type: 'Delete' } & OtherUsers)
  /** Repeats a deletion that an older log does not contain. It was checked when it was decided first. */
  | { readonly type: 'DeleteAgain' }

/** A fact about other users, which the user's own stream does not contain. */
interface OtherUsers {
  /** True when no other active user is an administrator. Then this user must stay an administrator. */
  readonly nobodyElseAdministers?: boolean
}

interface AlreadyRegistered { readonly _tag: 'AlreadyRegistered' }
interface UserUnknown { readonly _tag: 'UserUnknown' }
interface PasswordOutdated { readonly _tag: 'PasswordOutdated' }
export interface LastAdministrator { readonly _tag: 'LastAdministrator' }

export interface UserRefusals {
  readonly Register: AlreadyRegistered
  readonly ChangePassword: UserUnknown | PasswordOutdated
  readonly Rehash: UserUnknown
  readonly EndLogins: UserUnknown
  readonly Change: UserUnknown | LastAdministrator
  readonly Delete: UserUnknown | LastAdministrator
  readonly DeleteAgain: UserUnknown
}

type Rules = Decisions<UserState, UserCommand, UserEvent, UserRefusals>
type Events = ReadonlyArray<UserEvent>

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

const unknown = E.left({ _tag: 'UserUnknown' } as const)

/** Refuses events after which no user would be an administrator. */
const keepingAdministrator = (
  { nobodyElseAdministers = false }: OtherUsers, user: User, events: Events,
): Either<LastAdministrator, Events> =>
  nobodyElseAdministers && administers(user) && !administers(events.reduce<UserState>(evolve, user))
    ? E.left({ _tag: 'LastAdministrator' })
    : E.right(events)

const deleted = ({ userId, usernameHash }: User, at: string): UserEvent =>
  ({ type: 'UserDeleted', data: { userId, at, usernameHash } })

const rules: Rules = {
  Register: ({ data, at }, state) =>
    state.status === 'none'
      ? E.right([{ type: 'UserRegistered', data: { ...data, at } }])
      : E.left({ _tag: 'AlreadyRegistered' }),
  ChangePassword: ({ generation, passwordHash, at }, user) => {
    if (!isUser(user)) return unknown
    if (generation !== undefined && generation !== user.generation) return E.left({ _tag: 'PasswordOutdated' })
    return E.right(newPassword(user, passwordHash, { userId: user.userId, at }))
  },
  Rehash: ({ oldHash, passwordHash, at }, user) => {
    if (!isUser(user)) return unknown
    if (oldHash !== user.passwordHash) return E.right([])
    return E.right([{ type: 'PasswordRehashed', data: { userId: user.userId, at, passwordHash } }])
  },
  EndLogins: ({ at }, user) => (isUser(user) ? E.right([loginsEnded(user, { userId: user.userId, at })]) : unknown),
  Change: ({ changes, at, ...others }, user) => {
    if (!isUser(user)) return unknown
    const common = { userId: user.userId, at }
    return keepingAdministrator(others, user, [
      ...newLimits(user, changes, common),
      ...newPermissions(user, changes, common),
      ...newPassword(user, changes.passwordHash, common),
      ...newStatus(user, changes, common),
    ])
  },
  Delete: ({ at, ...others }, user) => {
    if (!isUser(user)) return unknown
    return keepingAdministrator(others, user, [deleted(user, at)])
  },
  DeleteAgain: ({ at }, user) => (isUser(user) ? E.right([deleted(user, at)]) : unknown),
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
export const userDecider: DeciderByCommand<UserState, UserCommand, UserEvent, UserRefusals> = {
  initialState: { status: 'none' },
  evolve,
  decide: decideBy(rules),
  snapshots: {
    version: 1,
    codec: userState,
    keyOf: (state) => (isUser(state) ? userKey(state.userId) : null),
    isKept: false,
  },
}
