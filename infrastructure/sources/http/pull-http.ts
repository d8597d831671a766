import { isStationList, isStationListHead, STATION_HEAD_BYTES, stationsOf } from './station-list.ts'
import { looksLikePlaylist } from './hls-playlist.ts'
import { MAX_PLAYLIST_BYTES } from './hls-loader.ts'
import { followHls } from './hls-segments.ts'
import { type ByteRange, createFetcher, type Fetched, type Fetcher, type Opened, wholeBody } from './http-fetch.ts'
import { titleIntervalOf, withoutTitles } from './icy.ts'
import { looksLikeMp4, readableMp4 } from './mp4-file.ts'
import { SourceError } from '../source-error.ts'
import type { PullKind, PullRequest, SourceSink } from '../source-kind.ts'

/** Whether the answer announces its end by its length or its last chunk. An endless body only breaks off. */
const hasAnnouncedEnd = ({ headers }: Opened): boolean =>
  headers['content-length'] !== undefined || /\bchunked$/i.test(headers['transfer-encoding'] ?? '')

async function* whole(head: Buffer, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  yield head
  yield* body
}

/** Reads the first bytes of a body. `body` has all its bytes. */
const lookAhead = async (
  body: AsyncIterable<Buffer>,
): Promise<{ readonly head: Buffer; readonly body: AsyncIterable<Buffer> }> => {
  const pieces = body[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  while (head.length < STATION_HEAD_BYTES) {
    const next = await pieces.next()
    if (next.done === true) break
    head = Buffer.concat([head, next.value])
  }
  const rest = { [Symbol.asyncIterator]: () => pieces }
  return { head, body: whole(head, rest) }
}

const soundOf = ({ headers, body }: Opened): AsyncIterable<Buffer> => {
  const interval = titleIntervalOf(headers['icy-metaint'])
  return interval === null ? body : withoutTitles(body, interval)
}

/** The size of a file in bytes; null: unknown. */
const sizeOf = ({ status, headers }: Opened): number | null =>
  status === 200 && headers['content-length'] !== undefined && headers['content-encoding'] === undefined
    ? Number(headers['content-length'])
    : null

interface Pull extends PullRequest {
  readonly sink: SourceSink
  readonly fetcher: Fetcher
  readonly signal: AbortSignal
}

const playFile = async (body: AsyncIterable<Buffer>, { sink, signal }: Pull): Promise<void> => {
  for await (const piece of body) {
    if (signal.aborted) return
    if (piece.length > 0) await sink.bytes(piece)
  }
}

const playHls = async (playlist: Fetched, { fetcher, after, language, sink, signal }: Pull): Promise<void> => {
  const { targetDuration: onTargetDuration, awaitAudio: onWait } = sink
  const pieces = followHls({ fetcher, playlist, after, language, onTargetDuration, onWait, signal })
  for await (const { sequence, duration, bytes, begins, isLast } of pieces) {
    if (begins !== null) await sink.stretchEnds(begins)
    // If this puller dies within its first segment, the next puller needs to know where it started.
    if (begins?.lost === null) sink.segment(sequence - 1, 0)
    await sink.bytes(bytes)
    if (isLast) sink.segment(sequence, duration)
  }
}

/** Plays the first station of a list that plays. */
const playStations = async (list: Fetched, pull: Pull): Promise<void> => {
  let failure: unknown = new SourceError('bad_playlist')
  for (const [index, address] of stationsOf(list.bytes.toString('utf8')).entries()) {
    const url = URL.parse(address, list.url.href)
    if (url === null) continue
    pull.sink.awaitAudio()
    try {
      await play(url, pull, false)
      return await pull.sink.stretchEnds()
    } catch (error) {
      if (index === 0) failure = error
      await pull.sink.stretchEnds().catch(() => undefined)
    }
    if (pull.signal.aborted) return
  }
  throw failure
}

/** Plays a URL: an HLS playlist, a list of stations (unless the URL is from a list), a file or an endless stream. */
const play = async (url: URL, pull: Pull, mayBeList = true): Promise<void> => {
  const opened = await pull.fetcher.open(url)
  const { head, body } = await lookAhead(soundOf(opened))
  const isPlaylist = looksLikePlaylist(head)
  if (isPlaylist || isStationListHead(head)) {
    const list = { url: opened.url, bytes: await wholeBody(body, MAX_PLAYLIST_BYTES) }
    if (isPlaylist && !isStationList(list.bytes.toString('utf8'))) {
      pull.note('request', 'the answer is an HLS playlist')
      return playHls(list, pull)
    }
    pull.note('request', 'the answer is a list of stations')
    if (mayBeList) return playStations(list, pull)
    throw new SourceError('bad_playlist')
  }
  const range = (part: ByteRange) => pull.fetcher.range(opened.url, part)
  const mp4 = { body, size: sizeOf(opened), range, note: pull.note }
  await playFile(looksLikeMp4(head) ? readableMp4(mp4) : body, pull)
  if (!hasAnnouncedEnd(opened)) throw new SourceError('closed')
}

/** Pulls an http or https URL. */
export const pullHttp: PullKind = async (request, sink, guard, signal) => {
  const fetcher = createFetcher(guard, request.url, request.note)
  const close = (): void => fetcher.close()
  let hadPlaylist = request.after !== null
  const targetDuration = (seconds: number): void => {
    hadPlaylist = true
    sink.targetDuration(seconds)
  }
  signal.addEventListener('abort', close, { once: true })
  try {
    await play(request.url, { ...request, sink: { ...sink, targetDuration }, fetcher, signal })
  } catch (error) {
    // What never was a playlist will not become one. Later it may be a fault of a cache.
    const isBadPlaylist = error instanceof SourceError && error.code === 'bad_playlist'
    throw isBadPlaylist ? new SourceError('bad_playlist', hadPlaylist) : error
  } finally {
    signal.removeEventListener('abort', close)
    fetcher.close()
  }
}
