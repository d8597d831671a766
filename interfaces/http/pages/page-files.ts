import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { publicRoute, type Route } from '../route.ts'

/** Headers of files for sandboxed pages. A sandboxed page has no origin, so CORS_ORIGINS cannot list it. */
export const ANY_ORIGIN_HEADERS = {
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Access-Control-Allow-Origin': '*',
}

/** Reads a file in this folder as text. */
export const readPageFile = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** Imports in source modules. Their paths are replaced, because all modules are served from one folder. */
const IMPORT = /\b(from |import\()'\.[^']*?([\w-]+)\.ts'/g

/** Returns a TypeScript module below `interfaces/` as JavaScript for browsers. It is converted on the first request. */
export const browserModule = (path: string): { readonly name: string; readonly text: () => string } => {
  let cached: string | undefined
  const convert = (): string => {
    const source = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    return stripTypeScriptTypes(source).replaceAll(IMPORT, "$1'./$2.js'")
  }
  return { name: basename(path).replace(/ts$/, 'js'), text: () => (cached ??= convert()) }
}

/**
 * Creates the route of a file that the page at `/<page>` loads. The page links to `<page>/<name>`, which also works
 * behind a proxy that removes a prefix. If the address of the page ends with a slash, a browser resolves this link to
 * `/<page>/<page>/<name>`. So the route also accepts that path.
 */
export const pageFile = (
  page: string,
  name: string,
  mediaType: string,
  content: () => string,
  headers: Readonly<Record<string, string>> = {},
): Route<unknown> =>
  publicRoute(
    {
      method: 'GET',
      path: `/${page}{/${page}}/${name}`,
      response: { codec: t.string, mediaType, headers: { ...ANY_ORIGIN_HEADERS, ...headers }, isFile: true },
      refusals: [],
    },
    async () => E.right(content()),
  )
