const MASK = '***'

const maskedQuery = (search: URLSearchParams): string => {
  const names = Array.from(new Set(search.keys()), (name) => `${encodeURIComponent(name)}=${MASK}`)
  return names.length === 0 ? '' : `?${names.join('&')}`
}

/** RTMP has its stream key at the end of the path; elsewhere a path names a thing. */
const maskedPath = ({ protocol, pathname }: URL): string =>
  /^rtmps?:$/.test(protocol) ? pathname.replace(/(?<=.\/)[^/]+\/?$/, MASK) : pathname

/** An audio URL that may be shown: without user and password, values of the query, fragment and stream key (D60). */
export const maskedUrl = (text: string): string => {
  const url = URL.parse(text)
  if (url === null) return MASK
  const user = url.username === '' && url.password === '' ? '' : `${MASK}@`
  return `${url.protocol}//${user}${url.host}${maskedPath(url)}${maskedQuery(url.searchParams)}`
}
