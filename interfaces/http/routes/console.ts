import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { IsSetUp } from '../../../application/users/queries/is-set-up.ts'
import { consoleFiles } from '../console/console-files.ts'
import { CONSOLE_HEADERS, consolePage } from '../console/console-page.ts'
import { UNAVAILABLE } from '../errors.ts'
import { headerText, members } from '../codecs/validation.ts'
import { publicRoute, type Route } from '../route.ts'

export interface ConsoleCalls {
  readonly isSetUp: IsSetUp
}

/**
 * Returns the base path of the console files. If the path of the page is unknown, file addresses are relative, so they
 * also work behind a proxy that removes a prefix.
 */
const baseOf = (pagesUrl: string): string => {
  const path = pagesUrl.replace(/^https?:\/\/[^/]*/, '')
  return path === '' ? '' : `${path}/`
}

const page = (operationId: string, summary: string, path: string): Route<ConsoleCalls> =>
  publicRoute(
    {
      operationId,
      summary,
      method: 'GET',
      path,
      response: { codec: t.string, mediaType: 'text/html; charset=utf-8', headers: CONSOLE_HEADERS },
      refusals: UNAVAILABLE,
    },
    async ({ facts }, { isSetUp }: ConsoleCalls) => {
      const files = await consoleFiles()
      return E.map((isDone: boolean) => consolePage(files, isDone, baseOf(facts.pagesUrl)))(await isSetUp())
    },
  )

/** Browsers may keep a file permanently, because a changed file gets a new address. */
const PERMANENT = { 'Cache-Control': 'public, max-age=31536000, immutable' }

/** `:below` matches `setup` or `api`. A page at `/setup/` or `/api/v1` resolves its relative addresses below these. */
const file = publicRoute(
  {
    method: 'GET',
    path: '{/:below}/console/:build/*file',
    params: members({ build: headerText, file: headerText }),
    response: { codec: t.unknown, mediaType: 'text/javascript; charset=utf-8', headers: PERMANENT, isFile: true },
    refusals: ['RouteNotFound'],
  },
  async ({ params }) => {
    const { build, files } = await consoleFiles()
    const found = params.build === build ? files.get(params.file.replace(/\/$/, '')) : undefined
    return found === undefined ? E.left({ _tag: 'RouteNotFound' } as const) : E.right(found)
  },
)

/** The console page and its files. `/setup` is the address of the set-up link and shows the same page. */
export const consoleRoutes: ReadonlyArray<Route<ConsoleCalls>> = [
  page('showConsole', 'Show the console in a browser', '/'),
  page('showSetupPage', 'Show the console page that creates the first administrator', '/setup'),
  file,
]
