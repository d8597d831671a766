import { type Channels, headerOf, type RtspAnswer, type RtspConnection } from './rtsp-connection.ts'
import { isSupported } from './rtp-payloads.ts'
import { type AudioMedia, parseSdp, type RtpFormat } from './sdp.ts'
import { SourceError } from '../source-error.ts'
import type { Note } from '../source-kind.ts'

/** The server redirects. The caller must check the new address before it opens a socket. */
export class RtspRedirect extends Error {
  readonly location: string

  constructor(location: string) {
    super('redirect')
    this.location = location
  }
}

export interface RtspSession extends Channels {
  readonly format: RtpFormat
  /** Prevents the timeout of the session. Call it every `keepAliveEvery` milliseconds. */
  readonly keepAlive: () => void
  readonly keepAliveEvery: number
  readonly tearDown: () => void
}

/** Default timeout of a session (RFC 2326). */
const TIMEOUT_SECONDS = 60
/** Limits for the interval of keep-alive requests. */
const [MIN_KEEP_ALIVE_SECONDS, MAX_KEEP_ALIVE_SECONDS] = [5, 30]

/** "Unsupported Transport": the server does not send over the connection itself. */
const UNSUPPORTED_TRANSPORT = 461

/** Returns a successful answer. Throws an RtspRedirect or a SourceError on any other answer. */
const requireOk = (answer: RtspAnswer): RtspAnswer => {
  const location = headerOf(answer.headers, 'location')
  if (answer.status >= 300 && answer.status < 400 && location !== undefined) throw new RtspRedirect(location)
  if (answer.status === UNSUPPORTED_TRANSPORT) throw new SourceError('unsupported_transport')
  if (answer.status !== 200) throw new SourceError(`rtsp_${answer.status}`)
  return answer
}

/** Returns a URI for the request line. It is used only on this connection, so its host needs no check. */
const requestUri = (text: string): string => {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'rtsp:' && url.protocol !== 'rtsps:')) throw new SourceError('bad_answer')
  if (!/^[!-~]{1,2048}$/.test(url.href) || url.href.includes('"')) throw new SourceError('bad_answer')
  url.username = ''
  url.password = ''
  return url.href
}

/** Resolves `a=control` (RFC 2326, C.1.1) as servers do: text that is not a URI is appended to the base. */
const controlUri = (base: string, control: string | null): string => {
  if (control === null || control === '' || control === '*') return requestUri(base)
  return requestUri(/^rtsps?:/i.test(control) ? control : `${base.replace(/\/?$/, '/')}${control}`)
}

/**
 * Media with sound for the client, the likeliest first. A description of RTSP speaks from the side of the client (ONVIF
 * Streaming Specification, 5.3): `recvonly` is a microphone, and `sendonly` a loudspeaker that only receives. Some
 * servers call their own sound `sendonly`, so such media count where nothing else is.
 */
const audible = (audio: ReadonlyArray<AudioMedia>): ReadonlyArray<AudioMedia> => {
  const heard = [null, 'recvonly', 'sendrecv'].flatMap((wanted) =>
    audio.filter(({ direction }) => direction === wanted))
  return heard.length > 0 ? heard : audio
}

/** Chooses the medium and the format. No retry helps where there is none: the description is complete. */
const chooseAudio = (audio: ReadonlyArray<AudioMedia>): { readonly media: AudioMedia; readonly format: RtpFormat } => {
  const clear = audio.filter(({ isEncrypted }) => !isEncrypted)
  for (const media of audible(clear)) {
    const format = media.formats.find(isSupported)
    if (format !== undefined) return { media, format }
  }
  if (clear.length > 0) throw new SourceError('unsupported')
  throw new SourceError(audio.length > 0 ? 'encrypted' : 'no_audio')
}

const channelsOf = (transport: string): Channels => {
  const [, first, second] = /;\s*interleaved\s*=\s*(\d{1,3})(?:-(\d{1,3}))?/i.exec(transport) ?? []
  // Other transports need an additional socket, which is not supported.
  if (!/^RTP\/AVPF?\/TCP/i.test(transport) || first === undefined) throw new SourceError('unsupported_transport')
  return { rtp: Number(first), rtcp: Number(second ?? Number(first) + 1) }
}

/**
 * Requests OPTIONS, DESCRIBE, SETUP of one audio stream, and PLAY. Throws an RtspRedirect when the server redirects.
 * `url`: without credentials.
 */
export const playRtsp = async (connection: RtspConnection, url: string, note: Note): Promise<RtspSession> => {
  const options = await connection.request('OPTIONS', url)
  // A server that does not know OPTIONS may still play.
  if (options.status < 400) requireOk(options)
  const hasGetParameter = /\bGET_PARAMETER\b/.test(headerOf(options.headers, 'public') ?? '')

  const described = requireOk(await connection.request('DESCRIBE', url, { Accept: 'application/sdp' }))
  const { audio, control } = parseSdp(described.body)
  const { media, format } = chooseAudio(audio)
  const { encoding, clockRate, channels: channelCount } = format
  const channelText = channelCount === 1 ? '1 channel' : `${channelCount} channels`
  note('request', `the server offers ${encoding}, ${clockRate} Hz, ${channelText}`)
  const base = headerOf(described.headers, 'content-base') ?? headerOf(described.headers, 'content-location') ?? url

  const transport = { Transport: 'RTP/AVP/TCP;unicast;interleaved=0-1' }
  const setUp = requireOk(await connection.request('SETUP', controlUri(base, media.control), transport))
  const channels = channelsOf(headerOf(setUp.headers, 'transport') ?? '')
  const sessionHeader = headerOf(setUp.headers, 'session') ?? ''
  const [, id, timeout] = /^([^;\s]{1,256})\s*(?:;.*?\btimeout\s*=\s*(\d{1,6}))?/.exec(sessionHeader) ?? []
  if (id === undefined || !/^[!-~]+$/.test(id)) throw new SourceError('bad_answer')
  connection.setSession(id, channels)

  const aggregate = controlUri(base, control)
  requireOk(await connection.request('PLAY', aggregate, { Range: 'npt=0.000-' }))
  note('request', 'the server plays the stream over this connection')
  const interval = Math.max(MIN_KEEP_ALIVE_SECONDS, Number(timeout ?? TIMEOUT_SECONDS) / 2)
  return {
    format,
    ...channels,
    keepAlive: () => connection.send(hasGetParameter ? 'GET_PARAMETER' : 'OPTIONS', aggregate),
    keepAliveEvery: Math.min(MAX_KEEP_ALIVE_SECONDS, interval) * 1000,
    tearDown: () => connection.send('TEARDOWN', aggregate),
  }
}
