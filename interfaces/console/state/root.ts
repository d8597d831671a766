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
