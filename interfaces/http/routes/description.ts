import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { ANY_ORIGIN_HEADERS, pageFile, readPageFile } from '../pages/page-files.ts'
import { pagePolicy } from '../pages/page-policy.ts'
import { publicRoute, type Route } from '../route.ts'

/** Produces the documents of the interface. `servers` are the addresses at which the client reaches the service. */
export interface DescriptionCalls {
  readonly openapi: (servers: ReadonlyArray<string>) => Readonly<Record<string, unknown>>
  readonly asyncapi: (servers: ReadonlyArray<string>) => Readonly<Record<string, unknown>>
}

const SCRIPT_TYPE = 'text/javascript; charset=utf-8'
const STYLE_TYPE = 'text/css; charset=utf-8'

/** The viewers are large, and change only with an update. */
const CACHED_FOR_AN_HOUR = { 'Cache-Control': 'public, max-age=3600' }

/** Computes a value on the first call and keeps it. */
const once = <A>(make: () => A): (() => A) => {
  let cached: { readonly value: A } | null = null
  return () => (cached ??= { value: make() }).value
}

const textOf = (url: string): (() => string) => once(() => readFileSync(fileURLToPath(url), 'utf8'))

const SWAGGER_UI = textOf(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'))
const SWAGGER_UI_STYLE = textOf(import.meta.resolve('swagger-ui-dist/swagger-ui.css'))
const REDOC = textOf(import.meta.resolve('redoc/bundles/redoc.standalone.js'))

/**
 * Hashes of the inline styles of ReDoc: an empty style element, and its scroll bars. A new version of ReDoc may need
 * another second hash.
 */
const REDOC_STYLES = [
  "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
  "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
]

/** ReDoc loads a logo from its own server. Our pages load nothing from other servers, so the logo is replaced. */
const REDOC_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg'
const NO_LOGO = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"

const redocScript = once(() => REDOC().replaceAll(REDOC_LOGO, NO_LOGO))

/** The viewers are third-party programs. The sandbox removes their origin, so they cannot read the console's login. */
const SANDBOX = 'sandbox allow-scripts allow-forms allow-popups'

const viewer = (operationId: string, summary: string, name: string, styles: ReadonlyArray<string>): Route<unknown> => {
  const html = readPageFile(`${name}.html`)
  const headers = { 'Content-Security-Policy': `${pagePolicy(...styles)}; ${SANDBOX}` }
  return publicRoute(
    {
      operationId,
      summary,
      method: 'GET',
      path: `/${name}`,
      response: { codec: t.string, mediaType: 'text/html; charset=utf-8', headers },
      refusals: [],
    },
    async () => E.right(html),
  )
}

const DOCS_SCRIPT = readPageFile('docs.js')
const REDOC_SCRIPT = readPageFile('redoc.js')

const openapi = publicRoute(
  {
    operationId: 'getOpenApi',
    summary: 'Get this OpenAPI document',
    method: 'GET',
    path: '/openapi.json',
    response: { codec: t.UnknownRecord, headers: ANY_ORIGIN_HEADERS },
    refusals: [],
  },
  async ({ facts }, calls: DescriptionCalls) => E.right(calls.openapi(facts.servers)),
)

const asyncapi = publicRoute(
  {
    operationId: 'getAsyncApi',
    summary: 'Get the AsyncAPI document of the WebSocket',
    method: 'GET',
    path: '/asyncapi.json',
    response: { codec: t.UnknownRecord, headers: ANY_ORIGIN_HEADERS },
    refusals: [],
  },
  async ({ facts }, calls: DescriptionCalls) => E.right(calls.asyncapi(facts.servers)),
)

/** OpenAPI, AsyncAPI, and two viewers that load nothing from other servers. */
export const descriptionRoutes: ReadonlyArray<Route<DescriptionCalls>> = [
  openapi,
  asyncapi,
  viewer('showDocs', 'Show the OpenAPI document, and try out requests (Swagger UI)', 'docs', []),
  pageFile('docs', 'docs.js', SCRIPT_TYPE, () => DOCS_SCRIPT),
  pageFile('docs', 'swagger-ui.js', SCRIPT_TYPE, SWAGGER_UI, CACHED_FOR_AN_HOUR),
  pageFile('docs', 'swagger-ui.css', STYLE_TYPE, SWAGGER_UI_STYLE, CACHED_FOR_AN_HOUR),
  viewer('showRedoc', 'Show the OpenAPI document (ReDoc)', 'redoc', REDOC_STYLES),
  pageFile('redoc', 'redoc.js', SCRIPT_TYPE, () => REDOC_SCRIPT),
  pageFile('redoc', 'redoc.standalone.js', SCRIPT_TYPE, redocScript, CACHED_FOR_AN_HOUR),
]
