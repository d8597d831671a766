import { type AddressGuard, hostOf, portOf } from '../network/address-guard.ts'
import { createAuthentication, type Credentials, credentialsOf } from '../network/authentication.ts'
import { openSocket } from '../network/guarded-socket.ts'
import { createDepacketizer } from './rtp-payloads.ts'
import { parseRtp, saysGoodbye } from './rtp-packets.ts'
import { createRtspConnection, type RtspConnection } from './rtsp-connection.ts'
import { playRtsp, RtspRedirect, type RtspSession } from './rtsp-session.ts'
import { SourceError } from '../source-error.ts'
import type { Note, PullKind, SourceSink } from '../source-kind.ts'

const MAX_REDIRECTS = 3

const deliver = async (
  connection: RtspConnection,
  { format, rtp, rtcp }: RtspSession,
  sink: SourceSink,
  signal: AbortSignal,
): Promise<void> => {
  const depacketizer = createDepacketizer(format)
  let begin = depacketizer.begin
  while (!signal.aborted) {
    const { channel, payload } = await connection.packet()
    if (channel === rtcp && saysGoodbye(payload)) throw new SourceError('stream_over')
    const packet = channel === rtp ? parseRtp(payload) : null
    if (packet === null || packet.payloadType !== format.payloadType) continue
    const bytes = depacketizer.packet(packet)
    if (bytes.length === 0) continue
    await sink.bytes(begin.length === 0 ? bytes : Buffer.concat([begin, bytes]))
    begin = Buffer.alloc(0)
  }
}

interface RtspRequest {
  readonly url: URL
  readonly credentials: Credentials | null
  readonly note: Note
}

/** Plays the stream of one server. Every end is an error; a redirect is an RtspRedirect. */
const playFrom = async (
  { url, credentials, note }: RtspRequest,
  sink: SourceSink,
  guard: AddressGuard,
  signal: AbortSignal,
): Promise<void> => {
  const host = hostOf(url)
  if (host === null) throw new SourceError('unresolved')
  const socket = await openSocket(guard, { host, port: portOf(url), secure: url.protocol === 'rtsps:' }, signal)
  note('connect', `${socket.remoteAddress} port ${socket.remotePort}`)
  let keepingAlive: NodeJS.Timeout | undefined
  let tearDown: () => void = () => undefined
  const stop = (): void => {
    // Frees the session on the server before its timeout. The answer is not needed.
    if (socket.writable) tearDown()
    socket.destroy()
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    const connection = createRtspConnection(socket, createAuthentication(credentials))
    const session = await playRtsp(connection, `${url.protocol}//${url.host}${url.pathname}${url.search}`, note)
    tearDown = session.tearDown
    keepingAlive = setInterval(session.keepAlive, session.keepAliveEvery)
    await deliver(connection, session, sink, signal)
  } finally {
    signal.removeEventListener('abort', stop)
    clearInterval(keepingAlive)
    stop()
  }
}

/** Plays an RTSP or RTSPS stream over a single connection. It never resolves; every end is an error. */
export const pullRtsp: PullKind = async ({ url: first, note }, sink, guard, signal) => {
  let url = first
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    if (url.protocol !== 'rtsp:' && url.protocol !== 'rtsps:') throw new SourceError('scheme_forbidden')
    // The credentials of the first URL must not go to another server.
    const isFirstServer = url.protocol === first.protocol && url.host === first.host
    try {
      const credentials = credentialsOf(isFirstServer ? first : url)
      return await playFrom({ url, credentials, note }, sink, guard, signal)
    } catch (error) {
      if (!(error instanceof RtspRedirect)) throw error
      const next = URL.parse(error.location, url.href)
      if (next === null) throw new SourceError('bad_answer')
      note('request', 'the server redirects to another address')
      url = next
    }
  }
  throw new SourceError('too_many_redirects')
}
