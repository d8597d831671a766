import { createDecipheriv, type Decipheriv } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Continuity } from '../../../application/ports/audio-source.ts'
import {
  type MasterPlaylist, type MediaPlaylist, parsePlaylist, type Segment, type SegmentKey, type Variables,
} from './hls-playlist.ts'
import { audioPlaylists } from './hls-renditions.ts'
import type { Fetched, Fetcher } from './http-fetch.ts'
import { SourceError } from '../source-error.ts'

export const MAX_PLAYLIST_BYTES = 2 << 20
const MAX_SEGMENT_BYTES = 256 << 20
/** A segment is handed on in pieces of this size, so a long one costs no memory. */
const PIECE_BYTES = 1 << 20
const MAX_INITIAL_BYTES = 4 << 20
const KEY_BYTES = 16
/** Playback of a live playlist starts this many segments before its end (RFC 8216, 6.3.3). */
const LIVE_BACKLOG = 3
/** The pull fails after this number of missing segments in a row. */
const MAX_MISSING_IN_A_ROW = 3

/** The next bytes of a segment. */
export interface HlsPiece {
  /** The media sequence of the segment. */
  readonly sequence: number
  /** Seconds of the whole segment, from the playlist. */
  readonly duration: number
  readonly bytes: Buffer
  /** How the piece starts a new stretch, which needs a new decoder; null: it continues the previous piece. */
  readonly begins: Continuity | null
  /** Whether the segment ends with this piece. */
  readonly isLast: boolean
}

export interface FollowHls {
  readonly fetcher: Fetcher
  /** The first playlist, already fetched. */
  readonly playlist: Fetched
  /** The last segment that was already delivered, or null. */
  readonly after: number | null
  /** The spoken language; null: unknown. */
  readonly language: string | null
  readonly onTargetDuration: (seconds: number) => void
  /** Called when there is no audio for now, although nothing failed: in a gap, or before a variant is tried. */
  readonly onWait: () => void
  readonly signal: AbortSignal
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
): AsyncGenerator<Pick<HlsPiece, 'bytes' | 'isLast'>, void, undefined> {
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
const createLoader = (fetcher: Fetcher) => {
  const keys = new Map<string, Buffer>()

  const resolve = (uri: string, base: URL): URL => {
    const url = URL.parse(uri, base.href)
    if (url === null) throw new SourceError('bad_playlist')
    return url
  }

  const keyBytes = async (url: URL): Promise<Buffer> => {
    const known = keys.get(url.href)
    if (known !== undefined) return known
    const { bytes } = await fetcher.bytes(url, KEY_BYTES)
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
    playlist: async (
      url: URL,
      variables: Variables,
    ): Promise<{ readonly url: URL; readonly playlist: MediaPlaylist }> => {
      const fetched = await fetcher.bytes(url, MAX_PLAYLIST_BYTES)
      const playlist = parsePlaylist(fetched.bytes.toString('utf8'), fetched.url, variables)
      if (playlist.kind === 'master') throw new SourceError('bad_playlist')
      return { url: fetched.url, playlist }
    },
    resolve,
  }
}

type Loader = ReturnType<typeof createLoader>

/** Returns the first segment: after the delivered one, at the start of a recording or near the end of a live stream. */
const firstSequence = ({ segments, ended }: MediaPlaylist, after: number | null): number => {
  const last = segments.at(-1)?.sequence ?? -1
  // A playlist that ends before the delivered segment has restarted its numbering.
  if (after !== null && last >= after) return after + 1
  return (ended ? segments[0] : segments.at(-LIVE_BACKLOG))?.sequence ?? 0
}

const isNotFound = (error: unknown): boolean =>
  error instanceof SourceError && (error.code === 'http_404' || error.code === 'http_410')

/** Tracks the next segment and whether it continues the previous one. */
const createCursor = (firstPlaylist: MediaPlaylist, after: number | null) => {
  let next = firstSequence(firstPlaylist, after)
  let isNew = true
  let newClock = false
  /** Seconds between the last delivered segment and the next one; null: no segment of this numbering was delivered. */
  let missingSeconds = after !== null && next === after + 1 ? 0 : null
  let map: string | null = null
  let missingInARow = 0
  let missingError: unknown = null
  /**
   * Reloads in a row that end before the last delivered segment. One may come from a cache; several mean that the
   * packager has restarted.
   */
  let olderReloads = 0

  return {
    /** Moves to the segment; false: it was already taken. */
    take: (segment: Segment, targetDuration: number): boolean => {
      if (segment.sequence < next) return false
      // Assumes the longest duration for segments that the playlist has already dropped.
      if (missingSeconds !== null) missingSeconds += (segment.sequence - next) * targetDuration
      const segmentMap = segment.map === null ? null : JSON.stringify(segment.map)
      isNew ||= segment.sequence > next || segment.discontinuity || segmentMap !== map
      newClock ||= segment.discontinuity
      map = segmentMap
      next = segment.sequence + 1
      return true
    },
    /** Returns how the segment starts a new stretch; null: it continues the current one. */
    begins: (): Continuity | null => (isNew ? { lost: missingSeconds, newClock } : null),
    loaded: (): void => {
      isNew = false
      newClock = false
      missingSeconds = 0
      missingInARow = 0
    },
    /** Skips a missing segment. Throws any other error, and the error of one missing segment too many. */
    skip: (error: unknown, { duration }: Segment): void => {
      missingInARow += 1
      if (!isNotFound(error) || missingInARow >= MAX_MISSING_IN_A_ROW) throw error
      isNew = true
      missingSeconds = missingSeconds === null ? null : missingSeconds + duration
      missingError = error
    },
    /** Passes a segment that does not exist, as its playlist says. */
    pass: ({ duration }: Segment): void => {
      isNew = true
      missingSeconds = missingSeconds === null ? null : missingSeconds + duration
    },
    /** Throws when the last segments of a recording are missing. */
    end: (): void => {
      if (missingInARow > 0) throw missingError
    },
    reloaded: (playlist: MediaPlaylist): void => {
      const last = playlist.segments.at(-1)?.sequence
      olderReloads = last !== undefined && last < next - 1 ? olderReloads + 1 : 0
      if (olderReloads < 2) return
      next = firstSequence(playlist, null)
      isNew = true
      missingSeconds = null
      olderReloads = 0
    },
  }
}

interface Opened {
  readonly url: URL
  readonly playlist: MediaPlaylist
  readonly variables: Variables
}

/** Follows one media playlist. */
async function* followMedia(
  { url, playlist, variables }: Opened,
  loader: Loader,
  { after, onTargetDuration, onWait, signal }: Pick<FollowHls, 'after' | 'onTargetDuration' | 'onWait' | 'signal'>,
): AsyncGenerator<HlsPiece, void, undefined> {
  let current = playlist
  const cursor = createCursor(current, after)

  async function* load(segment: Segment): AsyncGenerator<HlsPiece, void, undefined> {
    const { sequence, duration } = segment
    const begins = cursor.begins()
    let hasBegun = false
    try {
      for await (const piece of loader.segment(segment, begins !== null, url)) {
        yield { sequence, duration, begins: hasBegun ? null : begins, ...piece }
        hasBegun = true
      }
      cursor.loaded()
    } catch (error) {
      if (!hasBegun) return cursor.skip(error, segment)
      // Counts as delivered, so that its first part is not delivered twice.
      yield { sequence, duration, begins: null, bytes: Buffer.alloc(0), isLast: true }
      throw error
    }
  }

  while (!signal.aborted) {
    onTargetDuration(current.targetDuration)
    for (const segment of current.segments) {
      if (signal.aborted) return
      if (!cursor.take(segment, current.targetDuration)) continue
      if (segment.gap) {
        cursor.pass(segment)
        onWait()
      } else yield* load(segment)
    }
    if (current.ended) return cursor.end()
    // Half the target duration (RFC 8216, 6.3.4), but between 0.5 s and 5 s.
    const reloadMs = Math.max(500, Math.min(current.targetDuration, 10) * 500)
    await delay(reloadMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    current = (await loader.playlist(url, variables)).playlist
    cursor.reloaded(current)
  }
}

/** Tries the playlists of a master playlist in their order. Each continues after the last segment of the one before. */
async function* followAny(
  master: MasterPlaylist,
  base: URL,
  loader: Loader,
  options: FollowHls,
): AsyncGenerator<HlsPiece, void, undefined> {
  const { language, onWait, signal } = options
  const { variables } = master
  let { after } = options
  let failure: unknown
  for (const uri of audioPlaylists(master, language)) {
    onWait()
    try {
      const opened = await loader.playlist(loader.resolve(uri, base), variables)
      for await (const piece of followMedia({ ...opened, variables }, loader, { ...options, after })) {
        if (piece.isLast) after = piece.sequence
        yield piece
      }
      return
    } catch (error) {
      failure ??= error
    }
    if (signal.aborted) return
  }
  throw failure
}

/**
 * Yields each segment of a live or recorded playlist once, in order, and ends with a recording. It skips single missing
 * segments. On every other error it tries the backups of a master playlist, then throws the first error. The caller
 * then tries again after the last delivered segment, so no segment is missed or delivered twice.
 */
export async function* followHls(options: FollowHls): AsyncGenerator<HlsPiece, void, undefined> {
  const { url, bytes } = options.playlist
  const loader = createLoader(options.fetcher)
  const playlist = parsePlaylist(bytes.toString('utf8'), url)
  if (playlist.kind === 'master') yield* followAny(playlist, url, loader, options)
  else yield* followMedia({ url, playlist, variables: new Map() }, loader, options)
}
