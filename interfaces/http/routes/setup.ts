import { readFileSync } from 'node:fs'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { UNAVAILABLE } from '../errors.ts'
import { presentUser, single, userView } from '../presenters.ts'
import { setupBody } from '../request-codecs.ts'
import { publicRoute } from '../route.ts'
import type { Route } from '../route.ts'

const page = (name: string): string => readFileSync(new URL(`../pages/${name}`, import.meta.url), 'utf8')

const FORM = page('setup.html')
const DONE = page('setup-done.html')
const SCRIPT = page('setup.js')
const STYLE = page('setup.css')

const PAGE_POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "form-action 'self'",
  "base-uri 'none'", "frame-ancestors 'none'",
].join('; ')

const showPage = publicRoute(
  {
    method: 'GET',
    path: '/setup',
    response: { codec: t.string, mediaType: 'text/html; charset=utf-8', headers: { 'Content-Security-Policy': PAGE_POLICY } },
    refusals: [],
  },
  async (_input, { services }) => E.right(services.hasUsers() ? DONE : FORM),
)

const complete = publicRoute(
  {
    method: 'POST',
    path: '/setup',
    body: { kind: 'json', codec: setupBody },
    response: { codec: single(userView) },
    refusals: ['SetupRefused', 'UsernameTaken', 'TooBusy', ...UNAVAILABLE],
  },
  async ({ body }, { services, setup }) => {
    if (services.hasUsers()) return E.left({ _tag: 'SetupRefused', reason: 'used' } as const)
    const user = await setup.redeem(body.token, body.username, body.password)()
    return E.isLeft(user) ? user : E.right({ data: presentUser(user.right) })
  },
)

/**
 * A file of the page. The page names it `setup/<name>`, which also works behind a proxy that takes a prefix away; a browser
 * that is at `/setup/` instead of `/setup` reads that as `/setup/setup/<name>`.
 */
const asset = (name: string, mediaType: string, content: string): Route =>
  publicRoute({ method: 'GET', path: `/setup{/setup}/${name}`, response: { codec: t.string, mediaType }, refusals: [] }, async () =>
    E.right(content),
  )

export const setupRoutes: ReadonlyArray<Route> = [
  showPage,
  complete,
  asset('setup.js', 'text/javascript; charset=utf-8', SCRIPT),
  asset('setup.css', 'text/css; charset=utf-8', STYLE),
]
