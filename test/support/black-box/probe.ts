import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Subject } from './subject.ts'

/** An attempt of an outside client and the expected behaviour of the service. */
export interface Probe {
  readonly name: string
  /** Settings with their prefix. */
  readonly settings?: Readonly<Record<string, string>>
  readonly withAdmin?: boolean
  /** The probe takes minutes or needs an idle machine. */
  readonly isHeavy?: boolean
  /** Throws when the service behaves differently. */
  readonly run: (subject: Subject) => Promise<void>
}

/** Probes on one service, because they need no settings and no administrator and leave the service intact. */
export const isLight = ({ settings, withAdmin, isHeavy = false }: Probe): boolean =>
  settings === undefined && withAdmin === undefined && !isHeavy

export const FORM = 'application/x-www-form-urlencoded'

interface Live {
  readonly id: number
  readonly relative_path: string
  readonly sender_token: string
  readonly listener_token: string
}

export const createLive = async (subject: Subject, token: string): Promise<Live> => {
  const { status, body } = await subject.json('POST', '/lives', { token, body: { model: 'demo-en', language: 'en' } })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body['data'] as Live
}

/** The address of a session's socket, without a token. */
export const socketAddress = (subject: Subject, { relative_path }: Live): string =>
  subject.url.replace(/^http/, 'ws') + relative_path

/** Returns the status of a handshake: 101 when the socket opened, 0 when the connection closed. */
export const handshake = async (address: string): Promise<number> => {
  const socket = new WebSocket(address)
  const opened = once(socket, 'open').then(() => 101)
  const refused = once(socket, 'unexpected-response').then(
    ([, response]) => (response as { readonly statusCode: number }).statusCode,
  )
  socket.on('error', () => undefined)
  const failed = once(socket, 'close').then(() => 0)
  const status = await Promise.race([opened, refused, failed])
  socket.terminate()
  return status
}
