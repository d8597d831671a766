import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import { UNAVAILABLE } from '../errors.ts'
import { list, presentPage, presentUser, single, userView } from '../presenters.ts'
import { loginForm, newUserBody, pageOf, pageQuery } from '../request-codecs.ts'
import { privateRoute, publicRoute } from '../route.ts'
import type { Route } from '../route.ts'

const bearerToken = t.strict({ access_token: t.string, token_type: t.literal('bearer') }, 'BearerToken')

const login = publicRoute(
  { method: 'POST', path: '/login', body: { kind: 'form', codec: loginForm }, response: { codec: bearerToken }, refusals: ['WrongLogin'] },
  async ({ body }, { services }) => {
    const token = await services.login(body.username, body.password)
    if (O.isNone(token)) return E.left({ _tag: 'WrongLogin' })
    return E.right({ access_token: token.value, token_type: 'bearer' as const })
  },
)

const createUser = privateRoute(
  'admin',
  {
    method: 'POST',
    path: '/users',
    body: { kind: 'json', codec: newUserBody },
    response: { codec: single(userView) },
    refusals: ['UsernameTaken', ...UNAVAILABLE],
  },
  async ({ body, caller }, { services }) => {
    const user = {
      username: body.username,
      password: body.password,
      permissions: Array.from(new Set(body.permissions)),
      maxSessions: body.max_sessions,
      maxTranslations: body.max_translations,
    }
    const registered = await services.registerUser(user, `user:${caller.userId}`)()
    return E.isLeft(registered) ? registered : E.right({ data: presentUser(registered.right) })
  },
)

const listUsers = privateRoute(
  'admin',
  { method: 'GET', path: '/users', query: pageQuery, response: { codec: list(userView) }, refusals: UNAVAILABLE },
  async ({ query }, { services }) => {
    const page = pageOf(query)
    const users = await services.listUsers(page)()
    return E.isLeft(users) ? users : E.right(presentPage(users.right, page, presentUser))
  },
)

export const userRoutes: ReadonlyArray<Route> = [login, createUser, listUsers]
