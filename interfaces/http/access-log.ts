/** Query parameters whose values whoever reads logs may see, as long as they look like one. */
const HARMLESS = new Set(['skip', 'limit', 'status', 'name', 'iso_639_1', 'lang_from', 'lang_to', 'after', 'replay'])
const SECRET = new Set(['token', 'token_sender'])

/** What is neither known to be harmless nor known at all may be a secret in the wrong place: its name is masked as well. */
const shown = ([name, value]: [string, string]): string => {
  if (HARMLESS.has(name) && /^[\w. -]{0,40}$/.test(value)) return `${name}=${encodeURIComponent(value)}`
  return SECRET.has(name) || HARMLESS.has(name) ? `${name}=***` : '***'
}

/** No route has a segment this long, but a token is often put into the path by mistake. */
const LONGEST_SEGMENT = 24

/** A path with its query as logs may show it: `/ws/live/?token=***`. */
export const loggable = (path: string, query: string): string => {
  const masked = path.split('/').map((segment) => (segment.length > LONGEST_SEGMENT ? '***' : segment)).join('/')
  return query === '' ? masked : `${masked}?${Array.from(new URLSearchParams(query), shown).join('&')}`
}

/** Node's errors carry what the client sent, credentials among it: nothing but these two goes to the log. */
export const loggableError = (error: unknown): { readonly code?: string | undefined; readonly error: string } =>
  error instanceof Error
    ? { code: 'code' in error && typeof error.code === 'string' ? error.code : undefined, error: error.message }
    : { error: 'unknown' }
