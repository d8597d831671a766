/** Query parameters whose values may be logged, as long as the value looks plausible. */
const HARMLESS_PARAMETERS = new Set([
  'skip', 'limit', 'status', 'name', 'iso_639_1', 'lang_from', 'lang_to', 'after', 'replay',
])
const SECRET_PARAMETERS = new Set(['token', 'token_sender'])

/** The name of an unknown parameter is masked too, because it may be a misplaced secret. */
const maskedParameter = ([name, value]: [string, string]): string => {
  const isHarmless = HARMLESS_PARAMETERS.has(name)
  if (isHarmless && /^[\w. -]{0,40}$/.test(value)) return `${name}=${encodeURIComponent(value)}`
  return isHarmless || SECRET_PARAMETERS.has(name) ? `${name}=***` : '***'
}

/** Every route has shorter segments. A longer segment may be a token that a client put into the path by mistake. */
const MAX_SEGMENT_CHARS = 24

/** A query has space for thousands of parameters. */
const MAX_PARAMETERS = 20

const maskedQuery = (query: string): string => {
  const pairs = query.split('&', MAX_PARAMETERS + 1)
  const masked = Array.from(new URLSearchParams(pairs.slice(0, MAX_PARAMETERS).join('&')), maskedParameter)
  return [...masked, ...(pairs.length > MAX_PARAMETERS ? ['…'] : [])].join('&')
}

/** Returns a path and its query without secrets, for the log: `/ws/live/?token=***`. */
export const loggableUrl = (path: string, query: string): string => {
  const masked = path.split('/').map((segment) => (segment.length > MAX_SEGMENT_CHARS ? '***' : segment)).join('/')
  return query === '' ? masked : `${masked}?${maskedQuery(query)}`
}

/** Returns only the code and message of an error. Node's HTTP errors also hold the raw request with its credentials. */
export const loggableError = (error: unknown): { readonly code?: string | undefined; readonly error: string } =>
  error instanceof Error
    ? { code: 'code' in error && typeof error.code === 'string' ? error.code : undefined, error: error.message }
    : { error: 'unknown' }
