import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { publicRoute } from '../route.ts'
import type { Route } from '../route.ts'

/** What pages load that are nobody's origin, sandboxed as they are: it comes to all of them, whatever CORS_ORIGINS allows to others. */
export const FOR_ANY_PAGE = { 'Cross-Origin-Resource-Policy': 'cross-origin', 'Access-Control-Allow-Origin': '*' }

/** Text of a file of our own pages. */
export const pageText = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** Modules import each other from several folders, and lie beside each other where they are served. */
const IMPORT = /\b(from |import\()'\.[^']*?([\w-]+)\.ts'/g

/** A TypeScript module below `interfaces/` as browsers take it: without its types, made when it is first asked for. */
export const browserModule = (path: string): { readonly name: string; readonly text: () => string } => {
  let made: string | undefined
  const make = (): string =>
    stripTypeScriptTypes(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')).replaceAll(IMPORT, "$1'./$2.js'")
  return { name: basename(path).replace(/ts$/, 'js'), text: () => (made ??= make()) }
}

/**
 * A file of the page at `/<page>`. The page names it `<page>/<name>`, which also works behind a proxy that takes a prefix
 * away; a browser that is at `/<page>/` instead of `/<page>` reads that as `/<page>/<page>/<name>`.
 */
export const pageFile = (
  page: string,
  name: string,
  mediaType: string,
  content: () => string,
  headers: Readonly<Record<string, string>> = {},
): Route<unknown> =>
  publicRoute(
    { method: 'GET', path: `/${page}{/${page}}/${name}`, response: { codec: t.string, mediaType, headers: { ...FOR_ANY_PAGE, ...headers }, isFile: true }, refusals: [] },
    async () => E.right(content()),
  )
