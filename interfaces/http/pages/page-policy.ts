/** What a page of ours may load and do: only what this service serves. `styles` are hashes of styles beside those of files. */
export const pagePolicy = (...styles: ReadonlyArray<string>): string =>
  [
    "default-src 'none'", "script-src 'self'", ["style-src 'self'", ...styles].join(' '), "img-src 'self' data:", "connect-src 'self'",
    "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
  ].join('; ')

/** S41 for a page that may be embedded: nothing but files of the service, no inline code or style, sockets anywhere. */
const EMBEDDABLE = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self' ws: wss:",
]

/** `*` alone is every page of a network; a snippet is often tried in a file. */
const ANYBODY = '* file:'

/** Content-Security-Policy of a page that pages of these origins may show in a frame; `*` stands for all. */
export const framableBy = (ancestors: ReadonlyArray<string>): string =>
  [...EMBEDDABLE, `frame-ancestors ${ancestors.includes('*') ? ANYBODY : ancestors.join(' ')}`, "base-uri 'none'", "form-action 'self'"].join('; ')
