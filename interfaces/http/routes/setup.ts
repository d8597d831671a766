import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { SetUp } from '../../../application/users/commands/set-up.ts'
import type { IsSetUp } from '../../../application/users/queries/is-set-up.ts'
import { UNAVAILABLE } from '../errors.ts'
import { pageFile, pageText } from '../pages/page-files.ts'
import { pagePolicy } from '../pages/page-policy.ts'
import { presentUser, single, userView } from '../codecs/presenters.ts'
import { setupBody } from '../codecs/request-codecs.ts'
import { publicRoute } from '../route.ts'
import type { Route } from '../route.ts'

/** What these routes call. */
export interface SetupCalls {
  readonly isSetUp: IsSetUp
  readonly setUp: SetUp
}

const FORM = pageText('setup.html')
const DONE = pageText('setup-done.html')
const SCRIPT = pageText('setup.js')
const STYLE = pageText('setup.css')

const showPage = publicRoute(
  {
    operationId: 'showSetupPage',
    summary: 'Page that creates the first administrator',
    method: 'GET',
    path: '/setup',
    response: { codec: t.string, mediaType: 'text/html; charset=utf-8', headers: { 'Content-Security-Policy': pagePolicy() } },
    refusals: UNAVAILABLE,
  },
  async (_input, { isSetUp }: SetupCalls) => E.map((isDone: boolean) => (isDone ? DONE : FORM))(await isSetUp()()),
)

const complete = publicRoute(
  {
    operationId: 'completeSetup',
    summary: 'Create the first administrator with the one-time secret of the set-up link',
    method: 'POST',
    path: '/setup',
    body: { kind: 'json', codec: setupBody },
    response: { codec: single(userView) },
    refusals: ['SetupRefused', 'UsernameTaken', 'TooBusy', ...UNAVAILABLE],
  },
  async ({ body }, { setUp }: SetupCalls) => {
    const user = await setUp(body.token, body.username, body.password)()
    return E.isLeft(user) ? user : E.right({ data: presentUser(user.right) })
  },
)

export const setupRoutes: ReadonlyArray<Route<SetupCalls>> = [
  showPage,
  complete,
  pageFile('setup', 'setup.js', 'text/javascript; charset=utf-8', () => SCRIPT),
  pageFile('setup', 'setup.css', 'text/css; charset=utf-8', () => STYLE),
]
