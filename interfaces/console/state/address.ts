import { signal } from '@preact/signals'

const base = document.querySelector<HTMLElement>('meta[name=stenolog]')?.dataset['base'] ?? ''

/**
 * Where the service is, without a slash at the end. Where it does not know that itself, this file lies at
 * `<root>/console/<build>/console/state/`; a page at `/setup/` or `/api/v1` reaches it one level below.
 */
export const ROOT = (
  base === '' ? new URL('../../../..', import.meta.url).href.replace(/\/(?:setup|api)\/$/, '/')
    : new URL(base, location.href).href
).replace(/\/$/, '')

/** A file that is served with the console. */
export const fileAddress = (name: string): string => new URL(`../../${name}`, import.meta.url).href

/** The path in front of everything, for what tabs of several services on one host keep apart. */
export const ROOT_PATH = new URL(ROOT).pathname

/** Where the tab is: the part of its address behind `#`, which reaches no server and no log. */
export interface Address {
  /** Parts of the path, such as `['sessions', '42']`. */
  readonly path: ReadonlyArray<string>
  readonly query: URLSearchParams
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const read = (): Address => {
  // Only what begins with a slash is a place: the set-up link has its secret there.
  const [path = '', query = ''] = location.hash.startsWith('#/') ? location.hash.slice(2).split('?', 2) : []
  return { path: path.split('/').filter((part) => part !== '').map(decoded), query: new URLSearchParams(query) }
}

export const address = signal(read())

addEventListener('hashchange', () => {
  address.value = read()
})

type Query = Readonly<Record<string, string | number | null | undefined>>

/** The address of a page as a link has it; members of the query that are null are left out. */
export const linkTo = (path: string, query: Query = {}): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    (value === null || value === undefined ? [] : [[name, String(value)]]))
  const search = new URLSearchParams(given).toString()
  return `#/${path}${search === '' ? '' : `?${search}`}`
}

/** Goes to a page. */
export const goTo = (path: string, query: Query = {}): void => {
  location.hash = linkTo(path, query)
}

/** Changes the query of the page that is shown, without a new place in the history. */
export const changeQuery = (query: Query): void => {
  const all = { ...Object.fromEntries(address.value.query), ...query }
  history.replaceState(null, '', linkTo(address.value.path.map(encodeURIComponent).join('/'), all))
  address.value = read()
}
