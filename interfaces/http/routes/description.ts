import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { FOR_ANY_PAGE, pageFile, pageText } from '../pages/page-files.ts'
import { pagePolicy } from '../pages/page-policy.ts'
import { publicRoute } from '../route.ts'
import type { Route } from '../route.ts'

/** What these routes call: both for the addresses by which a client reaches the service. */
export interface DescriptionCalls {
  readonly openapi: (servers: ReadonlyArray<string>) => Readonly<Record<string, unknown>>
  readonly asyncapi: (servers: ReadonlyArray<string>) => Readonly<Record<string, unknown>>
}

const SCRIPT_TYPE = 'text/javascript; charset=utf-8'
const STYLE_TYPE = 'text/css; charset=utf-8'

/** The viewers' files change with their version alone, and are large. */
const LASTING = { 'Cache-Control': 'public, max-age=3600' }

/** Reads when it is first asked for, then keeps. */
const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | null = null
  return () => (made ??= { value: make() }).value
}

const textOf = (url: string): (() => string) => once(() => readFileSync(fileURLToPath(url), 'utf8'))

const SWAGGER_UI = textOf(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'))
const SWAGGER_UI_STYLE = textOf(import.meta.resolve('swagger-ui-dist/swagger-ui.css'))
const REDOC = textOf(import.meta.resolve('redoc/bundles/redoc.standalone.js'))

/**
 * ReDoc styles itself with rules that it adds to empty style elements, and with one fixed text (its scroll bars): these
 * are the hashes of both, so nothing else inline gets through. A new version of it may need another second hash.
 */
const REDOC_STYLES = ["'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='", "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='"]

/** ReDoc shows its maker's logo from its maker's server; no page of ours calls anybody. */
const REDOC_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg'
const NO_LOGO = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"

const redocScript = once(() => REDOC().replaceAll(REDOC_LOGO, NO_LOGO))

/** Viewers are programs of others: without an origin they reach neither the console's login nor its channel. */
const SANDBOX = 'sandbox allow-scripts allow-forms allow-popups'

const viewer = (operationId: string, summary: string, name: string, styles: ReadonlyArray<string>): Route<unknown> => {
  const html = pageText(`${name}.html`)
  const headers = { 'Content-Security-Policy': `${pagePolicy(...styles)}; ${SANDBOX}` }
  return publicRoute(
    { operationId, summary, method: 'GET', path: `/${name}`, response: { codec: t.string, mediaType: 'text/html; charset=utf-8', headers }, refusals: [] },
    async () => E.right(html),
  )
}

const DOCS_SCRIPT = pageText('docs.js')
const REDOC_SCRIPT = pageText('redoc.js')

const openapi = publicRoute(
  {
    operationId: 'getOpenApi',
    summary: 'This description',
    method: 'GET',
    path: '/openapi.json',
    response: { codec: t.UnknownRecord, headers: FOR_ANY_PAGE },
    refusals: [],
  },
  async ({ origin }, calls: DescriptionCalls) => E.right(calls.openapi(origin.servers)),
)

const asyncapi = publicRoute(
  {
    operationId: 'getAsyncApi',
    summary: 'Description of the WebSocket, as AsyncAPI 3.0',
    method: 'GET',
    path: '/asyncapi.json',
    response: { codec: t.UnknownRecord, headers: FOR_ANY_PAGE },
    refusals: [],
  },
  async ({ origin }, calls: DescriptionCalls) => E.right(calls.asyncapi(origin.servers)),
)

/** The description of all routes and two viewers of it that need no other server. */
export const descriptionRoutes: ReadonlyArray<Route<DescriptionCalls>> = [
  openapi,
  asyncapi,
  viewer('showDocs', 'The description to read and to try out (Swagger UI)', 'docs', []),
  pageFile('docs', 'docs.js', SCRIPT_TYPE, () => DOCS_SCRIPT),
  pageFile('docs', 'swagger-ui.js', SCRIPT_TYPE, SWAGGER_UI, LASTING),
  pageFile('docs', 'swagger-ui.css', STYLE_TYPE, SWAGGER_UI_STYLE, LASTING),
  viewer('showRedoc', 'The description to read (ReDoc)', 'redoc', REDOC_STYLES),
  pageFile('redoc', 'redoc.js', SCRIPT_TYPE, () => REDOC_SCRIPT),
  pageFile('redoc', 'redoc.standalone.js', SCRIPT_TYPE, redocScript, LASTING),
]
