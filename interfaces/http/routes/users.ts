import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { ChangeOwnPassword } from '../../../application/users/commands/change-own-password.ts'
import type { ChangeUser } from '../../../application/users/commands/change-user.ts'
import type { DeleteUser } from '../../../application/users/commands/delete-user.ts'
import type { LogIn } from '../../../application/users/commands/log-in.ts'
import type { LogOut } from '../../../application/users/commands/log-out.ts'
import type { RegisterUser } from '../../../application/users/commands/register-user.ts'
import type { WhoAmI } from '../../../application/users/queries/who-am-i.ts'
import type { UserView } from '../../../application/ports/read-models.ts'
import type { ListUsers } from '../../../projections/users/queries.ts'
import { actorOf } from '../../../application/caller.ts'
import { UNAVAILABLE } from '../errors.ts'
import { list, messageView, presentPage, presentUser, single, userView } from '../codecs/presenters.ts'
import {
  changePasswordBody, changeUserBody, loginForm, logoutBody, newUserBody, pageOf, pageQuery, pathId,
} from '../codecs/request-codecs.ts'
import { privateRoute, publicRoute, type Route } from '../route.ts'

export interface UserCalls {
  readonly logIn: LogIn
  readonly logOut: LogOut
  readonly whoAmI: WhoAmI
  readonly changeOwnPassword: ChangeOwnPassword
  readonly registerUser: RegisterUser
  readonly listUsers: ListUsers
  readonly changeUser: ChangeUser
  readonly deleteUser: DeleteUser
}

const bearerToken = t.strict({ access_token: t.string, token_type: t.literal('bearer') }, 'BearerToken')

const login = publicRoute(
  {
    operationId: 'login',
    summary: 'Log in with username and password',
    method: 'POST',
    path: '/login',
    body: { kind: 'form', codec: loginForm },
    response: { codec: bearerToken },
    refusals: ['WrongLogin', 'TooManyRequests', 'TooBusy', ...UNAVAILABLE],
  },
  async ({ body, facts }, calls: UserCalls) => {
    const token = await calls.logIn(body.username, body.password, facts.address)
    return E.isLeft(token) ? token : E.right({ access_token: token.right, token_type: 'bearer' as const })
  },
)

const logout = privateRoute(
  'login',
  {
    operationId: 'logout',
    summary: 'Log out: end this login, or all your logins; your sessions continue',
    method: 'POST',
    path: '/logout',
    isBudgeted: false,
    body: { kind: 'json', codec: logoutBody },
    response: { codec: messageView },
    refusals: UNAVAILABLE,
  },
  async ({ body, caller }, calls: UserCalls) => {
    const ended = await calls.logOut(caller, body.everywhere)
    return E.isLeft(ended) ? ended : E.right({ message: body.everywhere ? 'Logged out everywhere' : 'Logged out' })
  },
)

const createUser = privateRoute(
  'admin',
  {
    operationId: 'createUser',
    summary: 'Create a user',
    method: 'POST',
    path: '/users',
    body: { kind: 'json', codec: newUserBody },
    response: { codec: single(userView) },
    refusals: ['UsernameTaken', 'TooBusy', ...UNAVAILABLE],
  },
  async ({ body, caller }, calls: UserCalls) => {
    const user = {
      username: body.username,
      password: body.password,
      permissions: Array.from(new Set(body.permissions)),
      maxSessions: body.max_sessions,
      maxTranslations: body.max_translations,
    }
    const registered = await calls.registerUser(user, actorOf(caller))
    return E.isLeft(registered) ? registered : E.right({ data: presentUser(registered.right) })
  },
)

const listUsers = privateRoute(
  'admin',
  {
    operationId: 'listUsers',
    summary: 'List the users',
    method: 'GET',
    path: '/users',
    query: pageQuery,
    response: { codec: list(userView) },
    refusals: UNAVAILABLE,
  },
  async ({ query }, calls: UserCalls) => {
    const page = pageOf(query)
    const users = await calls.listUsers(page)
    return E.isLeft(users) ? users : E.right(await presentPage(users.right, page, presentUser))
  },
)

const changeUser = privateRoute(
  'admin',
  {
    operationId: 'changeUser',
    summary:
      'Change quotas, permissions or password of a user, or switch the user off; the last administrator stays active',
    method: 'PUT',
    path: '/users/:id',
    isBudgeted: false,
    params: pathId,
    body: { kind: 'json', codec: changeUserBody },
    response: { codec: single(userView) },
    refusals: ['UserNotFound', 'LastAdministratorChanged', 'TooBusy', ...UNAVAILABLE],
  },
  async ({ params, body, caller }, calls: UserCalls) => {
    const changes = {
      password: body.password,
      permissions: body.permissions,
      maxSessions: body.max_sessions,
      maxTranslations: body.max_translations,
      isActive: body.is_active,
    }
    const changed = await calls.changeUser(caller, params.id, changes)
    return E.isLeft(changed) ? changed : E.right({ data: presentUser(changed.right) })
  },
)

const deleteUser = privateRoute(
  'admin',
  {
    operationId: 'deleteUser',
    summary: 'Delete a user permanently, with all data of the user',
    method: 'DELETE',
    path: '/users/:id',
    params: pathId,
    response: { codec: messageView },
    refusals: ['UserNotFound', 'LastAdministrator', ...UNAVAILABLE],
  },
  async ({ params, caller }, calls: UserCalls) => {
    const deleted = await calls.deleteUser(caller, params.id)
    return E.isLeft(deleted) ? deleted : E.right({ message: 'User deleted' })
  },
)

const me = privateRoute(
  'private',
  {
    operationId: 'getMe',
    summary: 'Get your own account, with permissions and quotas',
    method: 'GET',
    path: '/users/me',
    response: { codec: single(userView) },
    refusals: ['UserNotFound', ...UNAVAILABLE],
  },
  async ({ caller }, calls: UserCalls) =>
    E.map((user: UserView) => ({ data: presentUser(user) }))(await calls.whoAmI(caller)),
)

const changePassword = privateRoute(
  'login',
  {
    operationId: 'changeMyPassword',
    summary: 'Change your password, and end all your logins',
    method: 'PUT',
    path: '/users/me/password',
    isBudgeted: false,
    body: { kind: 'json', codec: changePasswordBody },
    response: { codec: messageView },
    refusals: ['WrongPassword', 'TooManyRequests', 'TooBusy', ...UNAVAILABLE],
  },
  async ({ body, caller, facts }, calls: UserCalls) => {
    const changed = await calls.changeOwnPassword(caller, body.current_password, body.new_password, facts.address)
    return E.isLeft(changed) ? changed : E.right({ message: 'Password changed; log in again' })
  },
)

export const userRoutes: ReadonlyArray<Route<UserCalls>> =
  [login, logout, me, changePassword, createUser, listUsers, changeUser, deleteUser]
