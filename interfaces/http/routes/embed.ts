import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { browserModule, ANY_ORIGIN_HEADERS, readPageFile } from '../pages/page-files.ts'
import { embedQuery, pathId } from '../codecs/request-codecs.ts'
import { publicRoute, type Route } from '../route.ts'
import type { OperationCalls } from './operations.ts'

type EmbedCalls = Pick<OperationCalls, 'readiness'>

const PAGE = readPageFile('embed.html')
const STYLE = readPageFile('embed.css')

/** The page is equal for every id, so it reveals nothing about a session. Only its WebSocket needs the token. */
const showPage = publicRoute(
  {
    operationId: 'showEmbedPage',
    summary: 'Show the captions of a session as a page; put the listener token into the fragment (#token=…)',
    method: 'GET',
    path: '/embed/live/:id',
    params: pathId,
    query: embedQuery,
    response: { codec: t.string, mediaType: 'text/html; charset=utf-8', headers: ANY_ORIGIN_HEADERS, isFramable: true },
    refusals: [],
  },
  async () => E.right(PAGE),
)

/** Browsers hide the reason of a failed handshake from pages. If the service is ready, the token was wrong. */
const ready = publicRoute(
  {
    operationId: 'getEmbedReadiness',
    summary: 'Check whether the service is ready, after a failed WebSocket connection whose reason the browser hides',
    method: 'GET',
    path: '/embed/ready',
    response: { codec: t.strict({ ready: t.boolean }, 'EmbedReadiness'), headers: ANY_ORIGIN_HEADERS },
    refusals: [],
  },
  async (_input, { readiness }: EmbedCalls) => E.right({ ready: readiness().ready }),
)

/**
 * The page links to `../<name>`. If the address of the page ends with a slash, a browser resolves this link to
 * `/embed/live/<name>`. So the route also accepts that path.
 */
const asset = (name: string, mediaType: string, content: () => string): Route<unknown> =>
  publicRoute(
    {
      method: 'GET',
      path: `/embed{/live}/${name}`,
      response: { codec: t.string, mediaType, headers: ANY_ORIGIN_HEADERS, isFile: true },
      refusals: [],
    },
    async () => E.right(content()),
  )

/** The modules of the page. */
const MODULES = [
  'console/embed/embed.ts', 'console/embed/look.ts', 'console/embed/controls.ts', 'console/embed/status.ts',
  'client/captions.ts', 'client/live-socket.ts',
]

/** The files of the page. */
export const embedFiles: ReadonlyArray<Route<unknown>> = [
  asset('embed.css', 'text/css; charset=utf-8', () => STYLE),
  ...MODULES.map(browserModule).map(({ name, text }) => asset(name, 'text/javascript; charset=utf-8', text)),
]

/** Files come first, because the path of the page would match them too. */
export const embedRoutes: ReadonlyArray<Route<EmbedCalls>> = [
  ...embedFiles,
  ready,
  showPage,
]
