import { connect as connectTcp, isIP } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { AddressGuard } from './address-guard.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'

/** No byte for so long while we wait for one. */
export const IDLE_MS = 10_000

/** The lookup of every socket of ours: it answers with addresses that the guard has checked, or not at all (S2). */
export const checkedLookup = (guard: AddressGuard, port: number, errorOf: (error: unknown) => Error = sourceErrorOf): LookupFunction => (host, { all }, answer) => {
  guard.resolve(host, port).then(
    (found) => {
      const [one] = found
      if (all === true || one === undefined) answer(null, [...found])
      else answer(null, one.address, one.family)
    },
    (error: unknown) => answer(errorOf(error), []),
  )
}

export interface Endpoint {
  /** A name or a literal, without brackets. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
}

/** A connection to a checked address, verified where it is TLS; throws a SourceError. The signal ends the attempt to connect. */
export const openSocket = async (guard: AddressGuard, { host, port, secure }: Endpoint, signal: AbortSignal): Promise<Socket> => {
  const isLiteral = isIP(host) !== 0
  // A socket looks no literal up, so it would escape the check of the lookup.
  if (isLiteral) await guard.resolve(host, port)
  signal.throwIfAborted()
  const options = { host, port, lookup: checkedLookup(guard, port) }
  const socket = secure ? connectTls({ ...options, ...(isLiteral ? {} : { servername: host }) }) : connectTcp(options)
  // Whoever waits for something is told by what it waits for.
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
