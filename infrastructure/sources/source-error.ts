/** Why an attempt to pull a source came to nothing. A code says all: messages of libraries may hold the URL, and URLs hold secrets (D60). */
export type SourceErrorCode =
  | 'address_forbidden'
  | 'scheme_forbidden'
  | 'encrypted'
  | 'unsupported'
  | 'unresolved'
  | 'unreachable'
  | 'timeout'
  | 'tls'
  | 'closed'
  /** The server said so itself, but it may come back (D56). */
  | 'stream_over'
  /** An RTMP server does not give the stream out. */
  | 'refused'
  | 'too_large'
  | 'too_many_redirects'
  | 'bad_playlist'
  | 'bad_answer'
  | 'not_audio'
  /** An MP4 file whose index is not before its sound, and cannot be had either. */
  | 'no_index'
  /** SOURCE_ISOLATION is required, and this machine cannot isolate a decoder. */
  | 'not_isolated'
  | `http_${number}`
  | `rtsp_${number}`

/** What another attempt cannot change. */
const FINAL: ReadonlySet<string> = new Set<SourceErrorCode>([
  'address_forbidden', 'scheme_forbidden', 'encrypted', 'unsupported', 'no_index', 'not_isolated',
])

export class SourceError extends Error {
  readonly code: SourceErrorCode

  constructor(code: SourceErrorCode) {
    super(code)
    this.code = code
  }

  get retry(): boolean {
    return !FINAL.has(this.code)
  }
}

const UNREACHABLE = /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EHOSTDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/

/** Any failure as a code of ours. */
export const sourceErrorOf = (error: unknown): SourceError => {
  if (error instanceof SourceError) return error
  // Several addresses were tried: all errors have a say, the first is as good as any.
  const first = error instanceof AggregateError ? (error.errors as ReadonlyArray<unknown>)[0] : error
  if (first instanceof SourceError) return first
  const code = first instanceof Error && 'code' in first ? String(first.code) : ''
  if (UNREACHABLE.test(code)) return new SourceError('unreachable')
  if (code === 'ETIMEDOUT') return new SourceError('timeout')
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return new SourceError('unresolved')
  if (/CERT|SIGNATURE|^ERR_TLS|^ERR_SSL|^EPROTO$|ISSUER/.test(code)) return new SourceError('tls')
  if (code.startsWith('HPE_')) return new SourceError('bad_answer')
  return new SourceError('closed')
}
