import type { Socket } from 'node:net'
import { IDLE_MS } from './guarded-socket.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'

/** Takes the bytes of a connection in portions; the socket is read no faster. All throw `closed` at its end, `timeout` when none comes. */
export interface ByteReader {
  readonly exactly: (size: number) => Promise<Buffer>
  /** Up to and with the delimiter; throws `too_large` when it does not come within `limit` bytes. */
  readonly until: (delimiter: string, limit: number) => Promise<Buffer>
  /** The next byte, left where it is. */
  readonly peek: () => Promise<number>
}

/**
 * What had arrived before a connection broke is handed out before the failure: a stream's own iterator would drop it, and
 * with a reset by a killed server the last seconds of sound.
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
    // A connection that we read slowly is idle on purpose.
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
        if (size > limit) throw new SourceError('too_large')
        await more()
      }
    },
    peek: async () => {
      await atLeast(1)
      return all()[0] ?? 0
    },
  }
}
