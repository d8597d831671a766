import type { Socket } from 'node:net'
import { IDLE_MS } from './guarded-socket.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'

/**
 * Reads a connection in portions, and reads the socket only on demand. All methods throw `closed` at the end of the
 * connection and `timeout` when no byte arrives.
 */
export interface ByteReader {
  readonly exactly: (size: number) => Promise<Buffer>
  /** Reads up to and including the delimiter. Throws `bad_answer` when it is not within `limit` bytes. */
  readonly until: (delimiter: string, limit: number) => Promise<Buffer>
  /** Returns the bytes that have arrived, at least `size` of them, without consuming them. */
  readonly peek: (size: number) => Promise<Buffer>
}

/**
 * Creates a reader that returns all received bytes before it reports a broken connection. The iterator of a stream
 * would drop them, which loses the last seconds of sound when a killed server resets the connection.
 */
export const createByteReader = (socket: Socket): ByteReader => {
  let held: Array<Buffer> = []
  let size = 0
  let failure: SourceError | null = null
  let wake: () => void = () => undefined

  const fail = (error: SourceError): void => {
    failure ??= error
    wake()
  }
  socket.on('readable', () => wake())
  socket.once('end', () => fail(new SourceError('closed')))
  socket.once('error', (error) => fail(sourceErrorOf(error)))
  socket.once('close', () => fail(new SourceError('closed')))

  const piece = async (): Promise<Buffer> => {
    for (;;) {
      const bytes = socket.read() as Buffer | null
      if (bytes !== null) return bytes
      if (failure !== null) throw failure
      await new Promise<void>((resolve) => { wake = resolve })
    }
  }

  const more = async (): Promise<void> => {
    socket.setTimeout(IDLE_MS)
    const bytes = await piece()
    // No timeout between reads, because a slow consumer may leave the connection idle.
    socket.setTimeout(0)
    held.push(bytes)
    size += bytes.length
  }

  const atLeast = async (count: number): Promise<void> => {
    for (;;) {
      if (size >= count) return
      await more()
    }
  }

  const all = (): Buffer => {
    const [first] = held
    const joined = first !== undefined && held.length === 1 ? first : Buffer.concat(held)
    held = [joined]
    return joined
  }

  const take = (count: number): Buffer => {
    const joined = all()
    held = joined.length === count ? [] : [joined.subarray(count)]
    size -= count
    return joined.subarray(0, count)
  }

  return {
    exactly: async (count) => {
      await atLeast(count)
      return take(count)
    },
    until: async (delimiter, limit) => {
      for (;;) {
        const at = all().indexOf(delimiter)
        if (at >= 0 && at <= limit) return take(at + delimiter.length)
        if (size > limit) throw new SourceError('bad_answer')
        await more()
      }
    },
    peek: async (count) => {
      await atLeast(count)
      return all()
    },
  }
}
