import { createDecipheriv } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Continuity } from '../../../application/ports/audio-source.ts'
import { chooseRendition, parsePlaylist } from './hls-playlist.ts'
import type { MediaPlaylist, Segment, SegmentKey } from './hls-playlist.ts'
import type { Fetched, Fetcher } from './http-fetch.ts'
import { SourceError } from '../source-error.ts'

/** S8. */
export const MAX_PLAYLIST = 2 << 20
const MAX_SEGMENT = 32 << 20
const MAX_INITIAL = 4 << 20
const MAX_KEY = 16
/** A live playlist is joined this many segments before its end (RFC 8216, 6.3.3). */
const LIVE_BACKLOG = 3
/** Segments in a row that the server no longer has. */
const MAX_LOST = 3

export interface HlsSegment {
  readonly sequence: number
  /** Seconds, as the playlist says. */
  readonly duration: number
  readonly bytes: Buffer
  /** It begins a stretch, for which a new decoder is needed; null: it continues the segment before. */
  readonly begins: Continuity | null
}

export interface FollowHls {
  readonly fetcher: Fetcher
  /** The playlist that was fetched already. */
  readonly playlist: Fetched
  /** The last segment that was heard before, null for none. */
  readonly after: number | null
  readonly onTargetDuration: (seconds: number) => void
  readonly signal: AbortSignal
}

const sequenceIv = (sequence: number): Buffer => {
  const iv = Buffer.alloc(16)
  iv.writeBigUInt64BE(BigInt(sequence), 8)
  return iv
}

/** Fetches and decrypts segments of one playlist after another. */
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
    const { bytes } = await fetcher.bytes(url, MAX_KEY)
    if (bytes.length !== MAX_KEY) throw new SourceError('bad_playlist')
    // Keys rotate; only the newest are asked for again.
    if (keys.size >= 8) keys.clear()
    keys.set(url.href, bytes)
    return bytes
  }

  const decrypted = async (bytes: Buffer, key: SegmentKey, sequence: number, base: URL): Promise<Buffer> => {
    if (key.method !== 'AES-128' || key.format !== 'identity') throw new SourceError('encrypted')
    const cipher = createDecipheriv('aes-128-cbc', await keyBytes(resolve(key.uri, base)), key.iv ?? sequenceIv(sequence))
    try {
      return Buffer.concat([cipher.update(bytes), cipher.final()])
    } catch {
      throw new SourceError('bad_answer')
    }
  }

  return {
    initial: async ({ map, key, sequence }: Segment, base: URL): Promise<Buffer> => {
      if (map === null) return Buffer.alloc(0)
      const { bytes } = await fetcher.bytes(resolve(map.uri, base), MAX_INITIAL, map.range)
      return key === null || key.iv === null ? bytes : await decrypted(bytes, key, sequence, base)
    },
    media: async ({ uri, range, key, sequence }: Segment, base: URL): Promise<Buffer> => {
      const { bytes } = await fetcher.bytes(resolve(uri, base), MAX_SEGMENT, range)
      return key === null ? bytes : await decrypted(bytes, key, sequence, base)
    },
    playlist: async (url: URL): Promise<Fetched> => fetcher.bytes(url, MAX_PLAYLIST),
    resolve,
  }
}

type Loader = ReturnType<typeof createLoader>

const mediaPlaylistOf = (text: Buffer): MediaPlaylist => {
  const playlist = parsePlaylist(text.toString('utf8'))
  // A master that names a master names itself next.
  if (playlist.kind === 'master') throw new SourceError('bad_playlist')
  return playlist
}

/** Where to begin: after what was heard, else at the start of a recording or near the end of a live. */
const firstSequence = ({ segments, ended }: MediaPlaylist, after: number | null): number => {
  const last = segments.at(-1)?.sequence ?? -1
  // One that ends before what was heard began anew.
  if (after !== null && last >= after) return after + 1
  return (ended ? segments[0] : segments.at(-LIVE_BACKLOG))?.sequence ?? 0
}

const isLost = (error: unknown): boolean => error instanceof SourceError && (error.code === 'http_404' || error.code === 'http_410')

/** The media playlist to hear, and where it came from. */
const openPlaylist = async (loader: Loader, { url, bytes }: Fetched): Promise<{ readonly url: URL; readonly playlist: MediaPlaylist }> => {
  const first = parsePlaylist(bytes.toString('utf8'))
  if (first.kind === 'media') return { url, playlist: first }
  const chosen = await loader.playlist(loader.resolve(chooseRendition(first), url))
  return { url: chosen.url, playlist: mediaPlaylistOf(chosen.bytes) }
}

/** Which segments come next, and whether each goes on where the one before ended. */
const createCursor = (playlist: MediaPlaylist, after: number | null) => {
  let next = firstSequence(playlist, after)
  let isNew = true
  let newClock = false
  /** Seconds of the segments since the one that was heard; null where none of this playlist was. */
  let missing = after !== null && next === after + 1 ? 0 : null
  let map: string | null = null
  let lost = 0
  let loss: unknown = null
  /** Reloads in a row whose last segment is older than what was heard: a cache may serve one, a packager that began anew goes on so. */
  let older = 0

  return {
    /** Takes the segment; false when it was taken before. */
    take: (segment: Segment, targetDuration: number): boolean => {
      if (segment.sequence < next) return false
      // What the playlist has no longer was as long as its segments are at most.
      if (missing !== null) missing += (segment.sequence - next) * targetDuration
      const itsMap = segment.map === null ? null : JSON.stringify(segment.map)
      isNew ||= segment.sequence > next || segment.discontinuity || itsMap !== map
      newClock ||= segment.discontinuity
      map = itsMap
      next = segment.sequence + 1
      return true
    },
    /** How the segment begins a stretch, null where it continues one. */
    begins: (): Continuity | null => (isNew ? { lost: missing, newClock } : null),
    loaded: (): void => {
      isNew = false
      newClock = false
      missing = 0
      lost = 0
    },
    /** Leaves out a segment that the server no longer has; throws any other error, and one loss too many. */
    leaveOut: (error: unknown, { duration }: Segment): void => {
      lost += 1
      if (!isLost(error) || lost >= MAX_LOST) throw error
      isNew = true
      missing = missing === null ? null : missing + duration
      loss = error
    },
    /** A recording may not end with a loss. */
    end: (): void => {
      if (lost > 0) throw loss
    },
    reloaded: (again: MediaPlaylist): void => {
      const last = again.segments.at(-1)?.sequence
      older = last !== undefined && last < next - 1 ? older + 1 : 0
      if (older < 2) return
      next = firstSequence(again, null)
      isNew = true
      missing = null
      older = 0
    },
  }
}

/**
 * The segments of a playlist, live or recorded, in order, once each; ends with a recording. Any failure but a lost
 * segment of many ends it: the caller tries again and says what was heard, so that nothing is missed or heard twice.
 */
export async function* followHls({ fetcher, playlist, after, onTargetDuration, signal }: FollowHls): AsyncGenerator<HlsSegment, void, undefined> {
  const loader = createLoader(fetcher)
  const { url, playlist: first } = await openPlaylist(loader, playlist)
  let current = first
  const cursor = createCursor(current, after)

  while (!signal.aborted) {
    onTargetDuration(current.targetDuration)
    for (const segment of current.segments) {
      if (signal.aborted) return
      if (!cursor.take(segment, current.targetDuration)) continue
      try {
        const begins = cursor.begins()
        const initial = begins !== null ? await loader.initial(segment, url) : Buffer.alloc(0)
        const bytes = Buffer.concat([initial, await loader.media(segment, url)])
        cursor.loaded()
        yield { sequence: segment.sequence, duration: segment.duration, bytes, begins }
      } catch (error) {
        cursor.leaveOut(error, segment)
      }
    }
    if (current.ended) return cursor.end()
    await delay(Math.max(500, Math.min(current.targetDuration, 10) * 500), undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    current = mediaPlaylistOf((await loader.playlist(url)).bytes)
    cursor.reloaded(current)
  }
}
