/** Cookies of one pull. They never leave it, and each goes back only to the origin that has set it. */
export interface Cookies {
  /** Keeps the cookies of an answer. `setCookies`: its `Set-Cookie` headers. */
  readonly keep: (url: URL, setCookies: ReadonlyArray<string>) => void
  /** Returns the `Cookie` header for a request, or nothing. */
  readonly headerFor: (url: URL) => Readonly<Record<string, string>>
}

const MAX_ORIGINS = 16
/** Limit for the cookies of an origin in characters. Servers refuse longer headers. */
const MAX_CHARACTERS = 8192
/** Printable ASCII, so that a cookie cannot change our request. */
const COOKIE = /^([!-:<>-~]{1,256})=([ -:<-~]*)$/

const isDeleted = (attributes: ReadonlyArray<string>): boolean => {
  const valueOf = (name: string): string | undefined =>
    attributes.find((text) => text.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1)
  const maxAge = valueOf('max-age')
  return maxAge === undefined ? Date.parse(valueOf('expires') ?? '') <= Date.now() : Number(maxAge) <= 0
}

/**
 * Domain and path of a cookie are ignored: an origin gets all its own cookies, and no others. That is stricter than in
 * browsers (RFC 6265), where `Domain` lets other hosts receive them.
 */
export const createCookies = (): Cookies => {
  const origins = new Map<string, Map<string, string>>()
  const headerOf = (jar: ReadonlyMap<string, string>): string =>
    [...jar].map(([name, value]) => `${name}=${value}`).join('; ')

  return {
    keep: (url, setCookies) => {
      if (setCookies.length === 0) return
      if (!origins.has(url.origin) && origins.size >= MAX_ORIGINS) origins.clear()
      const jar = origins.get(url.origin) ?? new Map<string, string>()
      origins.set(url.origin, jar)
      for (const text of setCookies) {
        const [pair = '', ...attributes] = text.split(';').map((part) => part.trim())
        const [, name, value] = COOKIE.exec(pair) ?? []
        if (name === undefined || value === undefined || pair.length > MAX_CHARACTERS) continue
        jar.delete(name)
        if (!isDeleted(attributes)) jar.set(name, value)
        for (const oldest of jar.keys()) {
          if (headerOf(jar).length <= MAX_CHARACTERS) break
          jar.delete(oldest)
        }
      }
    },
    headerFor: ({ origin }) => {
      const jar = origins.get(origin)
      return jar === undefined || jar.size === 0 ? {} : { cookie: headerOf(jar) }
    },
  }
}
