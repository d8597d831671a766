import type { Socket } from 'node:net'

// SHOUTcast and Icecast: radio over HTTP, with titles inside the sound.

const ICY = Buffer.from('ICY ')
const HTTP = Buffer.from('HTTP/1.0 ')

/**
 * Lets Node's parser read the answer of a SHOUTcast server, which begins with `ICY 200 OK` instead of
 * `HTTP/1.0 200 OK`: exchanges these words in the next bytes that the socket receives.
 */
export const acceptIcy = (socket: Socket): void => {
  let head: Buffer = Buffer.alloc(0)
  socket.push = (bytes: Buffer | null): boolean => {
    head = bytes === null ? head : Buffer.concat([head, bytes])
    if (bytes !== null && head.length < ICY.length && ICY.subarray(0, head.length).equals(head)) return true
    // From here on, the method of the class applies again.
    Reflect.deleteProperty(socket, 'push')
    const isIcy = head.subarray(0, ICY.length).equals(ICY)
    const wantsMore = head.length === 0 || socket.push(isIcy ? Buffer.concat([HTTP, head.subarray(ICY.length)]) : head)
    return bytes === null ? socket.push(null) : wantsMore
  }
}

/** Returns the bytes of sound between two titles, from the header `icy-metaint`; null: there are no titles. */
export const titleIntervalOf = (header: string | ReadonlyArray<string> | undefined): number | null =>
  typeof header === 'string' && /^[1-9]\d{0,8}$/.test(header) ? Number(header) : null

/** Removes the titles from a body: `interval` bytes of sound, a sixteenth of the length of a title, the title. */
export async function* withoutTitles(
  body: AsyncIterable<Buffer>,
  interval: number,
): AsyncGenerator<Buffer, void, undefined> {
  let sound = interval
  let title = 0
  for await (const piece of body) {
    const parts: Array<Buffer> = []
    for (let at = 0; at < piece.length; ) {
      if (title > 0) {
        const skipped = Math.min(title, piece.length - at)
        title -= skipped
        at += skipped
      } else if (sound === 0) {
        title = piece.readUInt8(at) * 16
        sound = interval
        at += 1
      } else {
        const part = piece.subarray(at, at + sound)
        parts.push(part)
        sound -= part.length
        at += part.length
      }
    }
    yield Buffer.concat(parts)
  }
}
