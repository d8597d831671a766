import type { Socket } from 'node:net'
import { IDLE_MS } from './guarded-socket.ts'
import { SourceError, sourceErrorOf } from './source-error.ts'

/** Takes the bytes of a connection in portions; the socket is read no faster. All throw `closed` at its end, `timeout` when none comes. */
export interface ByteReader {
  readonly exactly: (size: number) => Promise<Buffer>
  /** Up to and with the delimiter; throws `too_large` when it does not come within `limit` bytes. */
  readonly until: (delimiter: string, limit: number) => Promise<Buffer>
  /** The next byte, left where it is. */
  readonly peek: () => Promise<number>
}

export const createByteReader = (socket: Socket): ByteReader => {
  const pieces = (socket as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  let held: Array<Buffer> = []
  let size = 0

  const more = async (): Promise<void> => {
    socket.setTimeout(IDLE_MS)
    const piece = await pieces.next().catch((error: unknown) => {
      throw sourceErrorOf(error)
    })
    // A connection that we read slowly is idle on purpose.
    socket.setTimeout(0)
    if (piece.done === true) throw new SourceError('closed')
    held.push(piece.value)
    size += piece.value.length
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
