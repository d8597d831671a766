import type { Socket } from 'node:net'
import type { Authentication } from '../network/authentication.ts'
import { createByteReader } from '../network/byte-reader.ts'
import { SourceError } from '../source-error.ts'

/** RFC 2326. What a server may send, in bytes. */
const MAX_HEAD = 16 * 1024
const MAX_BODY = 64 * 1024
/** Packets that may come before the answer that they are ahead of. */
const MAX_EARLY = 1024
/** Questions for a password that one request is answered with: the first, and that for a newer nonce. */
const MAX_CHALLENGES = 2
/** `$`: not a text, but a packet (10.12). */
const INTERLEAVED = 0x24

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

/** A server may ask as well. */
interface ServerRequest {
  readonly kind: 'request'
  readonly method: string
}

/** The first value of a header. */
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

/** Two lengths that differ, or one that is no number, would let a body pass as an answer. */
const bodyLengthOf = (headers: Headers): number => {
  const lengths = new Set(headers.get('content-length') ?? ['0'])
  const [text = ''] = lengths
  if (lengths.size !== 1 || !/^\d{1,9}$/.test(text)) throw new SourceError('bad_answer')
  if (Number(text) > MAX_BODY) throw new SourceError('too_large')
  return Number(text)
}

export interface RtspConnection {
  /** Asks and waits for the answer, once more with credentials where they are asked for. Any status but 401. */
  readonly ask: (method: string, uri: string, headers?: Readonly<Record<string, string>>) => Promise<RtspAnswer>
  /** Asks without waiting; its answer is taken note of. */
  readonly tell: (method: string, uri: string) => void
  /** The next packet; throws `closed` when the server ends the session. */
  readonly packet: () => Promise<InterleavedPacket>
  /** Names the session in every later request. */
  readonly setSession: (id: string) => void
}

export const createRtspConnection = (socket: Socket, authentication: Authentication): RtspConnection => {
  const reader = createByteReader(socket)
  const early: Array<InterleavedPacket> = []
  let number = 0
  let session: string | null = null
  /** The last request that nobody waits for. */
  let told: { readonly method: string; readonly uri: string } | null = null

  const write = (method: string, uri: string, headers: Readonly<Record<string, string>>): number => {
    number += 1
    const authorization = authentication.authorization(method, uri)
    const all = {
      CSeq: String(number),
      'User-Agent': 'stenolog',
      ...(session === null ? {} : { Session: session }),
      ...(authorization === null ? {} : { Authorization: authorization }),
      ...headers,
    }
    socket.write(`${method} ${uri} RTSP/1.0\r\n${Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
    return number
  }

  const receive = async (): Promise<RtspAnswer | InterleavedPacket | ServerRequest> => {
    if ((await reader.peek()) === INTERLEAVED) {
      const head = await reader.exactly(4)
      return { kind: 'packet', channel: head.readUInt8(1), payload: await reader.exactly(head.readUInt16BE(2)) }
    }
    const [first = '', ...lines] = (await reader.until('\r\n\r\n', MAX_HEAD)).toString('latin1').split('\r\n')
    const headers = headersOf(lines)
    const body = (await reader.exactly(bodyLengthOf(headers))).toString('utf8')
    const status = /^RTSP\/\d\.\d (\d{3})(?: |$)/.exec(first)?.[1]
    if (status !== undefined) return { kind: 'answer', status: Number(status), headers, body }
    const method = /^([A-Z_]+) \S+ RTSP\/\d\.\d$/.exec(first)?.[1]
    if (method === undefined) throw new SourceError('bad_answer')
    return { kind: 'request', method }
  }

  const judgeRequest = ({ method }: ServerRequest): void => {
    // A new place would have to be looked at like a first one: the next attempt asks for it (S5).
    if (method === 'REDIRECT' || method === 'TEARDOWN') throw new SourceError('closed')
  }

  const answerTo = async (expected: number): Promise<RtspAnswer> => {
    for (;;) {
      const received = await receive()
      if (received.kind === 'packet') {
        early.push(received)
        if (early.length > MAX_EARLY) throw new SourceError('bad_answer')
      } else if (received.kind === 'request') judgeRequest(received)
      else if (Number(headerOf(received.headers, 'cseq') ?? expected) === expected) return received
    }
  }

  const ask: RtspConnection['ask'] = async (method, uri, headers = {}) => {
    for (let challenges = 0; ; challenges += 1) {
      const answer = await answerTo(write(method, uri, headers))
      if (answer.status !== 401) return answer
      if (challenges >= MAX_CHALLENGES || !authentication.challenged(answer.headers.get('www-authenticate') ?? [])) throw new SourceError('rtsp_401')
    }
  }

  /** The nonce of the credentials has aged: the session must not end for that. */
  const tellAgain = ({ headers }: RtspAnswer): void => {
    const again = told
    // Whoever asks once more gets no answer.
    told = null
    if (again !== null && authentication.challenged(headers.get('www-authenticate') ?? [])) write(again.method, again.uri, {})
  }

  return {
    ask,
    tell: (method, uri) => {
      told = { method, uri }
      write(method, uri, {})
    },
    packet: async () => {
      for (;;) {
        const received = early.shift() ?? (await receive())
        if (received.kind === 'packet') return received
        if (received.kind === 'request') judgeRequest(received)
        else if (received.status === 401) tellAgain(received)
      }
    },
    setSession: (id) => {
      session = id
    },
  }
}
