import { setTimeout as delay } from 'node:timers/promises'
import type { Continuity } from '../../../application/ports/audio-source.ts'
import { createLoader, type Loader, type OpenedPlaylist, type Piece } from './hls-loader.ts'
import { type MasterPlaylist, type MediaPlaylist, parsePlaylist, type Segment } from './hls-playlist.ts'
import { audioPlaylists } from './hls-renditions.ts'
import type { Fetched, Fetcher } from './http-fetch.ts'
import { SourceError } from '../source-error.ts'

/** Playback of a live playlist starts this many segments before its end (RFC 8216, 6.3.3). */
const LIVE_BACKLOG = 3
/** The pull fails after this number of missing segments in a row. */
const MAX_MISSING_IN_A_ROW = 3

export interface HlsPiece extends Piece {
  /** The media sequence of the segment. */
  readonly sequence: number
  /** Seconds of the whole segment, from the playlist. */
  readonly duration: number
  /** How the piece starts a new stretch, which needs a new decoder; null: it continues the previous piece. */
  readonly begins: Continuity | null
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

/** Follows one media playlist. */
async function* followMedia(
  { url, playlist, variables }: OpenedPlaylist,
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
      for await (const piece of followMedia(opened, loader, { ...options, after })) {
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
