/** Returns a Content-Security-Policy that allows only files of this service. `styles` are hashes of inline styles. */
export const pagePolicy = (...styles: ReadonlyArray<string>): string =>
  [
    "default-src 'none'", "script-src 'self'", ["style-src 'self'", ...styles].join(' '), "img-src 'self' data:",
    "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
  ].join('; ')

/** Only files of this service and no inline code or style. WebSockets may go to any host. */
const EMBED_POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self' ws: wss:",
]

/** `*` does not include local files, but people often try the snippet in a local file. */
const ANY_ANCESTOR = '* file:'

/** Returns the Content-Security-Policy of a page that these origins may show in a frame. `*` allows every origin. */
export const framePolicy = (ancestors: ReadonlyArray<string>): string => {
  const allowed = ancestors.includes('*') ? ANY_ANCESTOR : ancestors.join(' ')
  return [...EMBED_POLICY, `frame-ancestors ${allowed}`, "base-uri 'none'", "form-action 'self'"].join('; ')
}
