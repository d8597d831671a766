const MASK = '***'

const maskedQuery = (search: URLSearchParams): string => {
  const names = Array.from(new Set(search.keys()), (name) => `${encodeURIComponent(name)}=${MASK}`)
  return names.length === 0 ? '' : `?${names.join('&')}`
}

/** In RTMP URLs the end of the path is the secret stream key. In other URLs the path is not secret. */
const maskedPath = ({ protocol, pathname }: URL): string =>
  /^rtmps?:$/.test(protocol) ? pathname.replace(/(?<=.\/)[^/]+\/?$/, MASK) : pathname

/** Hides the user, password, query values, fragment and stream key of an audio URL, so the URL may be shown. */
export const maskedUrl = (text: string): string => {
  const url = URL.parse(text)
  if (url === null) return MASK
  const user = url.username === '' && url.password === '' ? '' : `${MASK}@`
  return `${url.protocol}//${user}${url.host}${maskedPath(url)}${maskedQuery(url.searchParams)}`
}
