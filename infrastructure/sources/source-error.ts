/**
 * Why an attempt to pull a source failed. Only a code, because error messages of libraries may contain the URL, which
 * may contain secrets.
 */
export type SourceErrorCode =
  | 'address_forbidden'
  | 'scheme_forbidden'
  | 'encrypted'
  | 'unsupported'
  /** The server offers its stream only over a transport that Stenolog does not use, for example RTSP over UDP. */
  | 'unsupported_transport'
  | 'unresolved'
  | 'unreachable'
  | 'timeout'
  | 'tls'
  | 'closed'
  /** The server reported the end of the stream; the stream may come back. */
  | 'stream_over'
  /** An RTMP server closed the connection after audio, as encoders do at their end; the stream may come back. */
  | 'closed_after_audio'
  /** An RTMP server refuses to play the stream. */
  | 'refused'
  | 'too_large'
  | 'too_many_redirects'
  | 'bad_playlist'
  | 'bad_answer'
  | 'not_audio'
  /** The whole source was read, and no part of it could be decoded. */
  | 'no_audio'
  /** An MP4 file has its index after the audio, and the index cannot be fetched separately. */
  | 'no_index'
  /** SOURCE_ISOLATION has the value `required`, and this machine cannot isolate a decoder. */
  | 'not_isolated'
  | `http_${number}`
  | `rtsp_${number}`

/** Codes for which another attempt is useless. */
const FINAL: ReadonlySet<string> = new Set<SourceErrorCode>([
  'address_forbidden', 'scheme_forbidden', 'encrypted', 'unsupported', 'unsupported_transport', 'too_large', 'no_audio',
  'no_index', 'not_isolated',
])

export class SourceError extends Error {
  readonly code: SourceErrorCode
  /** Whether another attempt may succeed. */
  readonly retry: boolean

  constructor(code: SourceErrorCode, retry = !FINAL.has(code)) {
    super(code)
    this.code = code
    this.retry = retry
  }
}

const UNREACHABLE = /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EHOSTDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/

export const sourceErrorOf = (error: unknown): SourceError => {
  if (error instanceof SourceError) return error
  // Node tried several addresses; the first error stands for all.
  const first = error instanceof AggregateError ? (error.errors as ReadonlyArray<unknown>)[0] : error
  if (first instanceof SourceError) return first
  const code = first instanceof Error && 'code' in first ? String(first.code) : ''
  if (UNREACHABLE.test(code)) return new SourceError('unreachable')
  if (code === 'ETIMEDOUT') return new SourceError('timeout')
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return new SourceError('unresolved')
  if (/CERT|SIGNATURE|^ERR_TLS|^ERR_SSL|^EPROTO$|ISSUER/.test(code)) return new SourceError('tls')
  // Errors of Node's HTTP parser and of its inflater.
  if (/^(?:HPE|Z)_/.test(code)) return new SourceError('bad_answer')
  return new SourceError('closed')
}
