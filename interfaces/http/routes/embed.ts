import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { browserModule, FOR_ANY_PAGE, pageText } from '../pages/page-files.ts'
import { embedQuery, pathId } from '../codecs/request-codecs.ts'
import { publicRoute } from '../route.ts'
import type { OperationCalls } from './operations.ts'
import type { Route } from '../route.ts'

/** What these routes call. */
type EmbedCalls = Pick<OperationCalls, 'readiness'>

const PAGE = pageText('embed.html')
const STYLE = pageText('embed.css')

/** The same page for every id, real or not: it tells nothing about a live, its socket asks for the token. */
const showPage = publicRoute(
  {
    operationId: 'showEmbedPage',
    summary: 'The captions of a session as a page; its listener token is in the fragment',
    method: 'GET',
    path: '/embed/live/:id',
    params: pathId,
    query: embedQuery,
    response: { codec: t.string, mediaType: 'text/html; charset=utf-8', headers: FOR_ANY_PAGE, framable: true },
    refusals: [],
  },
  async () => E.right(PAGE),
)

/** Browsers do not tell their pages why a handshake failed: when this says ready, it was the token. */
const ready = publicRoute(
  {
    operationId: 'getEmbedReadiness',
    summary: 'Can sockets be opened? For pages that cannot see why a handshake failed',
    method: 'GET',
    path: '/embed/ready',
    response: { codec: t.strict({ ready: t.boolean }, 'EmbedReadiness'), headers: FOR_ANY_PAGE },
    refusals: [],
  },
  async (_input, { readiness }: EmbedCalls) => E.right({ ready: readiness().ready }),
)

/** The page names it `../<name>`: with a slash at the end of its own address that is one level deeper. */
const asset = (name: string, mediaType: string, content: () => string): Route<unknown> =>
  publicRoute(
    { method: 'GET', path: `/embed{/live}/${name}`, response: { codec: t.string, mediaType, headers: FOR_ANY_PAGE, isFile: true }, refusals: [] },
    async () => E.right(content()),
  )

/** The page's modules, which import each other by these names. */
const MODULES = [
  'console/embed/embed.ts', 'console/embed/look.ts', 'console/embed/controls.ts', 'console/embed/status.ts',
  'client/captions.ts', 'client/live-socket.ts',
]

/** What the page loads. */
export const embedFiles: ReadonlyArray<Route<unknown>> = [
  asset('embed.css', 'text/css; charset=utf-8', () => STYLE),
  ...MODULES.map(browserModule).map(({ name, text }) => asset(name, 'text/javascript; charset=utf-8', text)),
]

/** The files stand before the page: they win over its parameter. */
export const embedRoutes: ReadonlyArray<Route<EmbedCalls>> = [
  ...embedFiles,
  ready,
  showPage,
]
