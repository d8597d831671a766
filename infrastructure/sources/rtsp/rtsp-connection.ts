import type { Socket } from 'node:net'
import type { Authentication } from '../network/authentication.ts'
import { createByteReader } from '../network/byte-reader.ts'
import { SourceError } from '../source-error.ts'

// RTSP as in RFC 2326.
const MAX_HEAD_BYTES = 16 * 1024
const MAX_BODY_BYTES = 64 * 1024
/** Packets that may arrive before an expected answer. */
const MAX_EARLY_PACKETS = 1024
/** Authentication challenges that one request answers: the first one, and one with a newer nonce. */
const MAX_CHALLENGES = 2
/** `$`, the first byte of an interleaved packet (RFC 2326, 10.12). */
const INTERLEAVED = 0x24
/** The head of an interleaved packet and the first byte of its content: enough to recognise any message. */
const START_BYTES = 5
/** Answers, and the requests that a server sends to a client (RFC 2326, 10; RFC 7826, 13). */
const TEXT_START = /^(?:RTSP\/|ANNOU|GET_P|OPTIO|PLAY_|REDIR|SET_P|TEARD)/
/** More than the largest packet, several times: what is no message for longer will not become one. */
const MAX_STRAY_BYTES = 256 * 1024

type Headers = ReadonlyMap<string, ReadonlyArray<string>>

export interface RtspAnswer {
  readonly kind: 'answer'
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export interface InterleavedPacket {
  readonly kind: 'packet'
  readonly channel: number
  readonly payload: Buffer
}

/** Numbers of the interleaved channels of a session. */
export interface Channels {
  readonly rtp: number
  readonly rtcp: number
}

/** Servers may send requests, too. */
interface ServerRequest {
  readonly kind: 'request'
  readonly method: string
}

/** Returns the first value of a header. */
export const headerOf = (headers: Headers, name: string): string | undefined => headers.get(name)?.[0]

const headersOf = (lines: ReadonlyArray<string>): Headers => {
  const headers = new Map<string, Array<string>>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const name = line.slice(0, colon).trim().toLowerCase()
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()])
  }
  return headers
}

/** Returns the body length. Refuses different or invalid lengths, which could disguise a body as an answer. */
const bodyLengthOf = (headers: Headers): number => {
  const lengths = new Set(headers.get('content-length') ?? ['0'])
  const [text = ''] = lengths
  if (lengths.size !== 1 || !/^\d{1,9}$/.test(text)) throw new SourceError('bad_answer')
  if (Number(text) > MAX_BODY_BYTES) throw new SourceError('bad_answer')
  return Number(text)
}

/**
 * Whether a message starts here: text, or RTP or RTCP (both of version 2) on a channel of the session. Before a session
 * (null), anything but an empty line, because other protocols must not wait for an answer.
 */
const isStart = (bytes: Buffer, at: number, channels: Channels | null): boolean => {
  const text = bytes.toString('latin1', at, at + START_BYTES)
  if (channels === null) return !/^[\r\n]/.test(text)
  if (bytes[at] !== INTERLEAVED) return TEXT_START.test(text)
  const channel = bytes[at + 1]
  return (channel === channels.rtp || channel === channels.rtcp) && bytes.readUInt8(at + 4) >> 6 === 2
}

/** Returns where the first message starts, or may start when more bytes have arrived. */
const startIn = (bytes: Buffer, channels: Channels | null): number => {
  let at = 0
  while (at + START_BYTES <= bytes.length && !isStart(bytes, at, channels)) at += 1
  return at
}

export interface RtspConnection {
  /** Sends a request and returns the answer. Answers authentication challenges; throws `rtsp_401` if they fail. */
  readonly request: (method: string, uri: string, headers?: Readonly<Record<string, string>>) => Promise<RtspAnswer>
  /** Sends a request without waiting. `packet` handles its answer. */
  readonly send: (method: string, uri: string) => void
  /** Returns the next packet. Throws `closed` when the server ends the session. */
  readonly packet: () => Promise<InterleavedPacket>
  /** From now on, bytes between messages are skipped: some servers send parts of lost packets. */
  readonly setSession: (id: string, channels: Channels) => void
}

export const createRtspConnection = (socket: Socket, authentication: Authentication): RtspConnection => {
  const reader = createByteReader(socket)
  const early: Array<InterleavedPacket> = []
  let sequence = 0
  let session: { readonly id: string; readonly channels: Channels } | null = null
  /** The last request of `send`. */
  let unanswered: { readonly method: string; readonly uri: string } | null = null

  const write = (method: string, uri: string, headers: Readonly<Record<string, string>>): number => {
    sequence += 1
    const authorization = authentication.authorization(method, uri)
    const allHeaders = {
      CSeq: String(sequence),
      'User-Agent': 'stenolog',
      ...(session === null ? {} : { Session: session.id }),
      ...(authorization === null ? {} : { Authorization: authorization }),
      ...headers,
    }
    const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`${method} ${uri} RTSP/1.0\r\n${lines.join('')}\r\n`)
    return sequence
  }

  const skipStrayBytes = async (): Promise<void> => {
    for (let skipped = 0; ; ) {
      const bytes = await reader.peek(START_BYTES)
      const start = startIn(bytes, session?.channels ?? null)
      if (start === 0) return
      await reader.exactly(start)
      skipped += start
      if (skipped > MAX_STRAY_BYTES) throw new SourceError('bad_answer')
    }
  }

  const receive = async (): Promise<RtspAnswer | InterleavedPacket | ServerRequest> => {
    await skipStrayBytes()
    if ((await reader.peek(1))[0] === INTERLEAVED) {
      const head = await reader.exactly(4)
      return { kind: 'packet', channel: head.readUInt8(1), payload: await reader.exactly(head.readUInt16BE(2)) }
    }
    const [first = '', ...lines] = (await reader.until('\r\n\r\n', MAX_HEAD_BYTES)).toString('latin1').split('\r\n')
    const headers = headersOf(lines)
    const body = (await reader.exactly(bodyLengthOf(headers))).toString('utf8')
    const status = /^RTSP\/\d\.\d (\d{3})(?: |$)/.exec(first)?.[1]
    if (status !== undefined) return { kind: 'answer', status: Number(status), headers, body }
    const method = /^([A-Z_]+) \S+ RTSP\/\d\.\d$/.exec(first)?.[1]
    if (method === undefined) throw new SourceError('bad_answer')
    return { kind: 'request', method }
  }

  const handleRequest = ({ method }: ServerRequest): void => {
    // Ends the connection at a redirect. The next attempt gets the redirect as an answer to its first requests, and
    // checks the new address before it connects.
    if (method === 'REDIRECT' || method === 'TEARDOWN') throw new SourceError('closed')
  }

  const answerTo = async (expected: number): Promise<RtspAnswer> => {
    for (;;) {
      const received = await receive()
      if (received.kind === 'packet') {
        early.push(received)
        if (early.length > MAX_EARLY_PACKETS) throw new SourceError('bad_answer')
      } else if (received.kind === 'request') handleRequest(received)
      else if (Number(headerOf(received.headers, 'cseq') ?? expected) === expected) return received
    }
  }

  const acceptsChallenge = ({ headers }: RtspAnswer): boolean =>
    authentication.challenged(headers.get('www-authenticate') ?? [])

  const request: RtspConnection['request'] = async (method, uri, headers = {}) => {
    for (let challenges = 0; ; challenges += 1) {
      const answer = await answerTo(write(method, uri, headers))
      if (answer.status !== 401) return answer
      if (challenges >= MAX_CHALLENGES || !acceptsChallenge(answer)) throw new SourceError('rtsp_401')
    }
  }

  /** Sends a request again after its nonce has expired, so the session does not end. */
  const sendAgain = (answer: RtspAnswer): void => {
    const repeated = unanswered
    // A second challenge for the same request is ignored.
    unanswered = null
    if (repeated !== null && acceptsChallenge(answer)) write(repeated.method, repeated.uri, {})
  }

  return {
    request,
    send: (method, uri) => {
      unanswered = { method, uri }
      write(method, uri, {})
    },
    packet: async () => {
      for (;;) {
        const received = early.shift() ?? (await receive())
        if (received.kind === 'packet') return received
        if (received.kind === 'request') handleRequest(received)
        else if (received.status === 401) sendAgain(received)
      }
    },
    setSession: (id, channels) => {
      session = { id, channels }
    },
  }
}
