import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { IsSetUp } from '../../../application/users/queries/is-set-up.ts'
import { consoleFiles } from '../console/console-files.ts'
import { CONSOLE_HEADERS, consolePage } from '../console/console-page.ts'
import { UNAVAILABLE } from '../errors.ts'
import { members } from '../codecs/validation.ts'
import { publicRoute } from '../route.ts'
import type { Route } from '../route.ts'

/** What these routes call. */
export interface ConsoleCalls {
  readonly isSetUp: IsSetUp
}

/**
 * Where the files lie for a page at any of our addresses. Under a path that is known they are named in full; otherwise
 * relative to the page, which also works behind a proxy that takes away a prefix we know nothing of.
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
    async ({ origin }, { isSetUp }: ConsoleCalls) => {
      const files = await consoleFiles()
      return E.map((isDone: boolean) => consolePage(files, isDone, baseOf(origin.pagesUrl)))(await isSetUp()())
    },
  )

/** Kept for ever: another file has another address. */
const LASTING = { 'Cache-Control': 'public, max-age=31536000, immutable' }

/** A page at `/setup/` or `/api/v1` reads the relative address of a file as one below `/setup` or `/api`. */
const file = publicRoute(
  {
    method: 'GET',
    path: '{/:below}/console/:build/*file',
    params: members({ build: t.string, file: t.string }),
    response: { codec: t.unknown, mediaType: 'text/javascript; charset=utf-8', headers: LASTING, isFile: true },
    refusals: ['RouteNotFound'],
  },
  async ({ params }) => {
    const { build, files } = await consoleFiles()
    const found = params.build === build ? files.get(params.file.replace(/\/$/, '')) : undefined
    return found === undefined ? E.left({ _tag: 'RouteNotFound' } as const) : E.right(found)
  },
)

/** The console: one page at two addresses, of which the second is the one that the set-up link names, and its files. */
export const consoleRoutes: ReadonlyArray<Route<ConsoleCalls>> = [
  page('showConsole', 'The console, a page for browsers', '/'),
  page('showSetupPage', 'The console; with the token of the set-up link it creates the first administrator', '/setup'),
  file,
]
