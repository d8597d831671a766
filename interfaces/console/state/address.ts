import { signal } from '@preact/signals'

const base = document.querySelector<HTMLElement>('meta[name=stenolog]')?.dataset['base'] ?? ''

/**
 * URL of the service without a slash at the end. If the page does not contain it, this module uses its own URL,
 * `<root>/console/<build>/console/state/address.ts`. On a page at `/setup/` or `/api/`, `<root>` ends with this path,
 * which is then removed.
 */
export const ROOT = (
  base === '' ? new URL('../../../..', import.meta.url).href.replace(/\/(?:setup|api)\/$/, '/')
    : new URL(base, location.href).href
).replace(/\/$/, '')

export const fileAddress = (name: string): string => new URL(`../../${name}`, import.meta.url).href

/** Path of the service. Several services on one host use it to keep their stored values apart. */
export const ROOT_PATH = new URL(ROOT).pathname

/** The place in the console: the part of the URL after `#`, which browsers never send to a server. */
export interface Address {
  /** Parts of the path, such as `['sessions', '42']`. */
  readonly path: ReadonlyArray<string>
  readonly query: URLSearchParams
}

const decodePart = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const readAddress = (): Address => {
  // A fragment without a slash is the secret of a set-up link.
  const [path = '', query = ''] = location.hash.startsWith('#/') ? location.hash.slice(2).split('?', 2) : []
  return { path: path.split('/').filter((part) => part !== '').map(decodePart), query: new URLSearchParams(query) }
}

export const address = signal(readAddress())

addEventListener('hashchange', () => {
  address.value = readAddress()
})

type Query = Readonly<Record<string, string | number | null | undefined>>

/** Returns the link to a page. Null members of the query are left out. */
export const linkTo = (path: string, query: Query = {}): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    (value === null || value === undefined ? [] : [[name, String(value)]]))
  const search = new URLSearchParams(given).toString()
  return `#/${path}${search === '' ? '' : `?${search}`}`
}

/** Opens a page. */
export const goTo = (path: string, query: Query = {}): void => {
  location.hash = linkTo(path, query)
}

/** Changes the query of the present page without a new history entry. */
export const changeQuery = (query: Query): void => {
  const all = { ...Object.fromEntries(address.value.query), ...query }
  history.replaceState(null, '', linkTo(address.value.path.map(encodeURIComponent).join('/'), all))
  address.value = readAddress()
}
