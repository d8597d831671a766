import { createDecipheriv, type Decipheriv } from 'node:crypto'
import { type MediaPlaylist, parsePlaylist, type Segment, type SegmentKey, type Variables } from './hls-playlist.ts'
import type { Fetcher } from './http-fetch.ts'
import { SourceError } from '../source-error.ts'

export const MAX_PLAYLIST_BYTES = 2 << 20
const MAX_SEGMENT_BYTES = 256 << 20
/** A segment is handed on in pieces of this size, so a long one costs no memory. */
const PIECE_BYTES = 1 << 20
const MAX_INITIAL_BYTES = 4 << 20
const KEY_BYTES = 16
/** A server may send a page instead of a key. That is a fault of the playlist, and no key that is too large. */
const MAX_KEY_ANSWER_BYTES = 1 << 20

/** The next bytes of a segment. */
export interface Piece {
  readonly bytes: Buffer
  /** Whether the segment ends with this piece. */
  readonly isLast: boolean
}

export interface OpenedPlaylist {
  /** The address after redirects. */
  readonly url: URL
  readonly playlist: MediaPlaylist
  /** Of its master playlist. */
  readonly variables: Variables
}

const sequenceIv = (sequence: number): Buffer => {
  const iv = Buffer.alloc(16)
  iv.writeBigUInt64BE(BigInt(sequence), 8)
  return iv
}

async function* decrypted(
  body: AsyncIterable<Buffer>,
  cipher: Decipheriv,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of body) yield cipher.update(piece)
  let last: Buffer
  try {
    last = cipher.final()
  } catch {
    throw new SourceError('bad_answer')
  }
  yield last
}

async function* joined(...bodies: ReadonlyArray<AsyncIterable<Buffer>>): AsyncGenerator<Buffer, void, undefined> {
  for (const body of bodies) yield* body
}

/** Yields at least one piece, and marks the last one. */
async function* inPieces(
  body: AsyncIterable<Buffer>,
): AsyncGenerator<Piece, void, undefined> {
  let held: Array<Buffer> = []
  let size = 0
  for await (const bytes of body) {
    // The piece that is held may be the last one, until more bytes follow.
    if (size >= PIECE_BYTES && bytes.length > 0) {
      yield { bytes: Buffer.concat(held), isLast: false }
      held = []
      size = 0
    }
    held.push(bytes)
    size += bytes.length
  }
  yield { bytes: Buffer.concat(held), isLast: true }
}

/** Fetches playlists and segments, and decrypts segments. */
export const createLoader = (fetcher: Fetcher) => {
  const keys = new Map<string, Buffer>()

  const resolve = (uri: string, base: URL): URL => {
    const url = URL.parse(uri, base.href)
    if (url === null) throw new SourceError('bad_playlist')
    return url
  }

  const keyBytes = async (url: URL): Promise<Buffer> => {
    const known = keys.get(url.href)
    if (known !== undefined) return known
    const { bytes } = await fetcher.bytes(url, MAX_KEY_ANSWER_BYTES)
    if (bytes.length !== KEY_BYTES) throw new SourceError('bad_playlist')
    // Keys rotate, so old keys are not needed again.
    if (keys.size >= 8) keys.clear()
    keys.set(url.href, bytes)
    return bytes
  }

  /** Decrypts a body, with a key that is fetched before its first byte. */
  async function* opened(
    body: AsyncIterable<Buffer>,
    key: SegmentKey | null,
    sequence: number,
    base: URL,
  ): AsyncGenerator<Buffer, void, undefined> {
    if (key === null) return yield* body
    if (key.method !== 'AES-128' || key.format !== 'identity') throw new SourceError('encrypted')
    const iv = key.iv ?? sequenceIv(sequence)
    yield* decrypted(body, createDecipheriv('aes-128-cbc', await keyBytes(resolve(key.uri, base)), iv))
  }

  const initial = ({ map, key, sequence }: Segment, base: URL): AsyncIterable<Buffer> => {
    if (map === null) return joined()
    const body = fetcher.pieces(resolve(map.uri, base), MAX_INITIAL_BYTES, map.range)
    return opened(body, key?.iv === null ? null : key, sequence, base)
  }

  return {
    /** Yields a segment, and before it the initial section if a decoder starts with this segment. */
    segment: (segment: Segment, isFirst: boolean, base: URL) => {
      const { uri, range, key, sequence } = segment
      const media = opened(fetcher.pieces(resolve(uri, base), MAX_SEGMENT_BYTES, range), key, sequence, base)
      return inPieces(isFirst ? joined(initial(segment, base), media) : media)
    },
    /** Fetches a media playlist. A master playlist must not refer to another one, which could loop. */
    playlist: async (url: URL, variables: Variables): Promise<OpenedPlaylist> => {
      const fetched = await fetcher.bytes(url, MAX_PLAYLIST_BYTES)
      const playlist = parsePlaylist(fetched.bytes.toString('utf8'), fetched.url, variables)
      if (playlist.kind === 'master') throw new SourceError('bad_playlist')
      return { url: fetched.url, playlist, variables }
    },
    resolve,
  }
}

export type Loader = ReturnType<typeof createLoader>
