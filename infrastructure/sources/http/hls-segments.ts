import { createDecipheriv } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Continuity } from '../../../application/ports/audio-source.ts'
import { chooseRendition, type MediaPlaylist, parsePlaylist, type Segment, type SegmentKey } from './hls-playlist.ts'
import type { Fetched, Fetcher } from './http-fetch.ts'
import { SourceError } from '../source-error.ts'

export const MAX_PLAYLIST_BYTES = 2 << 20
const MAX_SEGMENT_BYTES = 32 << 20
const MAX_INITIAL_BYTES = 4 << 20
const KEY_BYTES = 16
/** Playback of a live playlist starts this many segments before its end (RFC 8216, 6.3.3). */
const LIVE_BACKLOG = 3
/** The pull fails after this number of missing segments in a row. */
const MAX_MISSING_IN_A_ROW = 3

export interface HlsSegment {
  readonly sequence: number
  /** Seconds, from the playlist. */
  readonly duration: number
  readonly bytes: Buffer
  /** How the segment starts a new stretch, which needs a new decoder; null: it continues the previous segment. */
  readonly begins: Continuity | null
}

export interface FollowHls {
  readonly fetcher: Fetcher
  /** The first playlist, already fetched. */
  readonly playlist: Fetched
  /** The last segment that was already delivered, or null. */
  readonly after: number | null
  readonly onTargetDuration: (seconds: number) => void
  readonly signal: AbortSignal
}

const sequenceIv = (sequence: number): Buffer => {
  const iv = Buffer.alloc(16)
  iv.writeBigUInt64BE(BigInt(sequence), 8)
  return iv
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

  const decrypted = async (bytes: Buffer, key: SegmentKey, sequence: number, base: URL): Promise<Buffer> => {
    if (key.method !== 'AES-128' || key.format !== 'identity') throw new SourceError('encrypted')
    const iv = key.iv ?? sequenceIv(sequence)
    const cipher = createDecipheriv('aes-128-cbc', await keyBytes(resolve(key.uri, base)), iv)
    try {
      return Buffer.concat([cipher.update(bytes), cipher.final()])
    } catch {
      throw new SourceError('bad_answer')
    }
  }

  return {
    initial: async ({ map, key, sequence }: Segment, base: URL): Promise<Buffer> => {
      if (map === null) return Buffer.alloc(0)
      const { bytes } = await fetcher.bytes(resolve(map.uri, base), MAX_INITIAL_BYTES, map.range)
      return key === null || key.iv === null ? bytes : await decrypted(bytes, key, sequence, base)
    },
    media: async ({ uri, range, key, sequence }: Segment, base: URL): Promise<Buffer> => {
      const { bytes } = await fetcher.bytes(resolve(uri, base), MAX_SEGMENT_BYTES, range)
      return key === null ? bytes : await decrypted(bytes, key, sequence, base)
    },
    playlist: async (url: URL): Promise<Fetched> => fetcher.bytes(url, MAX_PLAYLIST_BYTES),
    resolve,
  }
}

type Loader = ReturnType<typeof createLoader>

const mediaPlaylistOf = (text: Buffer): MediaPlaylist => {
  const playlist = parsePlaylist(text.toString('utf8'))
  // A master playlist must not refer to another one, which could loop.
  if (playlist.kind === 'master') throw new SourceError('bad_playlist')
  return playlist
}

/** Returns the first segment: after the delivered one, at the start of a recording or near the end of a live stream. */
const firstSequence = ({ segments, ended }: MediaPlaylist, after: number | null): number => {
  const last = segments.at(-1)?.sequence ?? -1
  // A playlist that ends before the delivered segment has restarted its numbering.
  if (after !== null && last >= after) return after + 1
  return (ended ? segments[0] : segments.at(-LIVE_BACKLOG))?.sequence ?? 0
}

const isNotFound = (error: unknown): boolean =>
  error instanceof SourceError && (error.code === 'http_404' || error.code === 'http_410')

/** Returns the media playlist and its address. Chooses a rendition of a master playlist. */
const openPlaylist = async (
  loader: Loader,
  { url, bytes }: Fetched,
): Promise<{ readonly url: URL; readonly playlist: MediaPlaylist }> => {
  const first = parsePlaylist(bytes.toString('utf8'))
  if (first.kind === 'media') return { url, playlist: first }
  const chosen = await loader.playlist(loader.resolve(chooseRendition(first), url))
  return { url: chosen.url, playlist: mediaPlaylistOf(chosen.bytes) }
}

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

/**
 * Yields each segment of a live or recorded playlist once, in order, and ends with a recording. It skips single missing
 * segments and throws every other error. The caller then tries again after the last delivered segment, so no segment is
 * missed or delivered twice.
 */
export async function* followHls(
  { fetcher, playlist, after, onTargetDuration, signal }: FollowHls,
): AsyncGenerator<HlsSegment, void, undefined> {
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
        cursor.skip(error, segment)
      }
    }
    if (current.ended) return cursor.end()
    // Half the target duration (RFC 8216, 6.3.4), but between 0.5 s and 5 s.
    const reloadMs = Math.max(500, Math.min(current.targetDuration, 10) * 500)
    await delay(reloadMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    current = mediaPlaylistOf((await loader.playlist(url)).bytes)
    cursor.reloaded(current)
  }
}
