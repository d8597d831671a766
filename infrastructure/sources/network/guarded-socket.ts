import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { AddressGuard } from './address-guard.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'

/** Timeout while waiting for the next byte. */
export const IDLE_MS = 10_000

export const checkedLookup = (
  guard: AddressGuard,
  port: number,
  errorOf: (error: unknown) => Error = sourceErrorOf,
): LookupFunction => (host, { all }, answer) => {
  guard.resolve(host, port).then(
    (found) => {
      const [first] = found
      if (all === true || first === undefined) answer(null, [...found])
      else answer(null, first.address, first.family)
    },
    (error: unknown) => answer(errorOf(error), []),
  )
}

export interface Endpoint {
  /** A name, or an IP address without brackets. */
  readonly host: string
  readonly port: number
  /** Whether to use TLS. */
  readonly secure: boolean
}

/** Connects to a checked address, with a verified certificate for TLS. Throws a SourceError. The signal cancels it. */
export const openSocket = async (
  guard: AddressGuard,
  { host, port, secure }: Endpoint,
  signal: AbortSignal,
): Promise<Socket> => {
  const isLiteral = isIP(host) !== 0
  // Sockets do not look up IP addresses, so these would bypass the check in the lookup.
  if (isLiteral) await guard.resolve(host, port)
  signal.throwIfAborted()
  const options = { host, port, lookup: checkedLookup(guard, port) }
  const socket = secure ? connectTls({ ...options, ...(isLiteral ? {} : { servername: host }) }) : connectTcp(options)
  // Prevents an unhandled error event. Pending operations report the error themselves.
  socket.on('error', () => undefined)
  const cut = (): void => void socket.destroy()
  signal.addEventListener('abort', cut, { once: true })
  return new Promise<Socket>((resolve, reject) => {
    socket.setTimeout(IDLE_MS, () => socket.destroy(new SourceError('timeout')))
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      socket.setTimeout(0)
      socket.setNoDelay(true)
      resolve(socket)
    })
    socket.once('error', (error) => reject(sourceErrorOf(error)))
    socket.once('close', () => reject(new SourceError('closed')))
  }).finally(() => signal.removeEventListener('abort', cut))
}
