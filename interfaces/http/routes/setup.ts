import * as E from 'fp-ts/lib/Either.js'
import type { SetUp } from '../../../application/users/commands/set-up.ts'
import { UNAVAILABLE } from '../errors.ts'
import { presentUser, single, userView } from '../codecs/presenters.ts'
import { setupBody } from '../codecs/request-codecs.ts'
import { publicRoute, type Route } from '../route.ts'

export interface SetupCalls {
  readonly setUp: SetUp
}

const complete = publicRoute(
  {
    operationId: 'completeSetup',
    summary: 'Create the first administrator with the one-time token of the set-up link',
    method: 'POST',
    path: '/setup',
    body: { kind: 'json', codec: setupBody },
    response: { codec: single(userView) },
    refusals: ['SetupRefused', 'UsernameTaken', 'TooBusy', ...UNAVAILABLE],
  },
  async ({ body }, { setUp }: SetupCalls) => {
    const user = await setUp(body.token, body.username, body.password)
    return E.isLeft(user) ? user : E.right({ data: presentUser(user.right) })
  },
)

export const setupRoutes: ReadonlyArray<Route<SetupCalls>> = [complete]
