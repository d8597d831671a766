import { headerOf } from './rtsp-connection.ts'
import type { RtspAnswer, RtspConnection } from './rtsp-connection.ts'
import { isKnown } from './rtp-payloads.ts'
import { parseSdp } from './sdp.ts'
import type { AudioMedia, RtpFormat } from './sdp.ts'
import { SourceError } from '../source-error.ts'
import type { Note } from '../source-kind.ts'

/** The server is elsewhere: whoever opens sockets must check where (S5). */
export class RtspRedirect extends Error {
  readonly location: string

  constructor(location: string) {
    super('redirect')
    this.location = location
  }
}

export interface RtspSession {
  readonly format: RtpFormat
  /** Interleaved channels. */
  readonly rtp: number
  readonly rtcp: number
  /** Keeps the session up; wanted every so many milliseconds. */
  readonly keepAlive: () => void
  readonly keepAliveEvery: number
  readonly tearDown: () => void
}

/** Seconds: what RFC 2326 assumes, and as often as we ask at most and at least. */
const TIMEOUT = 60
const [SHORTEST, LONGEST] = [5, 30]

const judged = (answer: RtspAnswer): RtspAnswer => {
  const location = headerOf(answer.headers, 'location')
  if (answer.status >= 300 && answer.status < 400 && location !== undefined) throw new RtspRedirect(location)
  if (answer.status !== 200) throw new SourceError(`rtsp_${answer.status}`)
  return answer
}

/** A URI for a request line on this connection; it is never dialled, whatever host is in it. */
const requestUri = (text: string): string => {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'rtsp:' && url.protocol !== 'rtsps:') || !/^[!-~]{1,2048}$/.test(url.href) || url.href.includes('"'))
    throw new SourceError('bad_answer')
  url.username = ''
  url.password = ''
  return url.href
}

/** RFC 2326, C.1.1, as servers understand it: what is no URI of its own is appended. */
const controlUri = (base: string, control: string | null): string => {
  if (control === null || control === '' || control === '*') return requestUri(base)
  return requestUri(/^rtsps?:/i.test(control) ? control : `${base.replace(/\/?$/, '/')}${control}`)
}

const chooseAudio = (audio: ReadonlyArray<AudioMedia>): { readonly media: AudioMedia; readonly format: RtpFormat } => {
  for (const media of audio) {
    const format = media.formats.find(isKnown)
    if (format !== undefined) return { media, format }
  }
  throw new SourceError(audio.length === 0 ? 'not_audio' : 'unsupported')
}

const channelsOf = (transport: string): { readonly rtp: number; readonly rtcp: number } => {
  const [, first, second] = /;\s*interleaved\s*=\s*(\d{1,3})(?:-(\d{1,3}))?/i.exec(transport) ?? []
  // Another transport would need a socket that we did not open.
  if (!/^RTP\/AVPF?\/TCP/i.test(transport) || first === undefined) throw new SourceError('unsupported')
  return { rtp: Number(first), rtcp: Number(second ?? Number(first) + 1) }
}

/** OPTIONS, DESCRIBE, SETUP of one sound, PLAY; throws RtspRedirect where a server says so. `url`: without credentials. */
export const playRtsp = async (connection: RtspConnection, url: string, note: Note): Promise<RtspSession> => {
  const options = await connection.ask('OPTIONS', url)
  // A server without OPTIONS may well play.
  if (options.status < 400) judged(options)
  const mayGetParameter = /\bGET_PARAMETER\b/.test(headerOf(options.headers, 'public') ?? '')

  const described = judged(await connection.ask('DESCRIBE', url, { Accept: 'application/sdp' }))
  const { audio, control } = parseSdp(described.body)
  const { media, format } = chooseAudio(audio)
  note('ask', `the server describes ${format.encoding}, ${format.clockRate} Hz, ${format.channels} channel${format.channels === 1 ? '' : 's'}`)
  const base = headerOf(described.headers, 'content-base') ?? headerOf(described.headers, 'content-location') ?? url

  const setUp = judged(await connection.ask('SETUP', controlUri(base, media.control), { Transport: 'RTP/AVP/TCP;unicast;interleaved=0-1' }))
  const channels = channelsOf(headerOf(setUp.headers, 'transport') ?? '')
  const [, id, timeout] = /^([^;\s]{1,256})\s*(?:;.*?\btimeout\s*=\s*(\d{1,6}))?/.exec(headerOf(setUp.headers, 'session') ?? '') ?? []
  if (id === undefined || !/^[!-~]+$/.test(id)) throw new SourceError('bad_answer')
  connection.setSession(id)

  const aggregate = controlUri(base, control)
  judged(await connection.ask('PLAY', aggregate, { Range: 'npt=0.000-' }))
  note('ask', 'the server plays it over this connection')
  return {
    format,
    ...channels,
    keepAlive: () => connection.tell(mayGetParameter ? 'GET_PARAMETER' : 'OPTIONS', aggregate),
    keepAliveEvery: Math.min(LONGEST, Math.max(SHORTEST, Number(timeout ?? TIMEOUT) / 2)) * 1000,
    tearDown: () => connection.tell('TEARDOWN', aggregate),
  }
}
