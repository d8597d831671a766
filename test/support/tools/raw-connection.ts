import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'
import { eventually } from './eventually.ts'

/** A TCP connection on which a test writes arbitrary bytes. */
export interface RawConnection {
  readonly socket: Socket
  /** All received text so far. */
  readonly answers: () => string
  /** The status codes of the answers so far. */
  readonly statuses: () => ReadonlyArray<number>
  readonly write: (bytes: string) => void
  /** Waits until this many answers have begun. */
  readonly answered: (count: number) => Promise<void>
  /** Waits until the service has closed the connection. Returns all received text. */
  readonly closed: () => Promise<string>
}

/** Connects to the service at `url` until the test ends. `from`: the local address of the connection. */
export const openRaw = async (t: ExecutionContext, url: string, from = '127.0.0.1'): Promise<RawConnection> => {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: from })
  let answers = ''
  socket.setEncoding('latin1').on('data', (text: string) => (answers += text))
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  const statuses = () => Array.from(answers.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status))
  return {
    socket,
    answers: () => answers,
    statuses,
    write: (bytes) => void socket.write(bytes, 'latin1'),
    answered: (count) =>
      eventually(() => {
        const { length } = statuses()
        if (length < count) throw new Error(`${length} of ${count} answers: ${answers.slice(0, 200)}`)
      }),
    closed: () =>
      eventually(() => {
        if (!socket.closed) throw new Error('the connection is still open')
        return answers
      }, { timeoutMs: 40_000 }),
  }
}
