import type { IncomingMessage } from 'node:http'
import { looksLikePlaylist } from './hls-playlist.ts'
import { followHls, MAX_PLAYLIST_BYTES } from './hls-segments.ts'
import { type ByteRange, createFetcher } from './http-fetch.ts'
import { looksLikeMp4, readableMp4 } from './mp4-file.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'
import type { PullKind, SourceSink } from '../source-kind.ts'

/** Enough bytes to recognise a playlist. */
const HEAD_BYTES = 10

/** Whether the response announces its end by its length or its last chunk. An endless body only breaks off. */
const hasAnnouncedEnd = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || /\bchunked$/i.test(headers['transfer-encoding'] ?? '')

async function* bodyOf(response: IncomingMessage): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const piece of response as AsyncIterable<Buffer>) yield piece
  } catch (error) {
    throw sourceErrorOf(error)
  }
}

const playlistOf = async (head: Buffer, body: AsyncIterable<Buffer>): Promise<Buffer> => {
  const pieces = [head]
  let size = head.length
  for await (const piece of body) {
    size += piece.length
    if (size > MAX_PLAYLIST_BYTES) throw new SourceError('too_large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

async function* whole(head: Buffer, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  yield head
  yield* body
}

const playFile = async (body: AsyncIterable<Buffer>, sink: SourceSink, signal: AbortSignal): Promise<void> => {
  for await (const piece of body) {
    if (signal.aborted) return
    if (piece.length > 0) await sink.bytes(piece)
  }
}

const sizeOf = ({ statusCode, headers }: IncomingMessage): number | null =>
  statusCode === 200 && headers['content-length'] !== undefined ? Number(headers['content-length']) : null

/** Pulls an http or https URL: an HLS playlist, a file or an endless stream. */
export const pullHttp: PullKind = async ({ url, after, note }, sink, guard, signal) => {
  const fetcher = createFetcher(guard, url, note)
  const close = (): void => fetcher.close()
  signal.addEventListener('abort', close, { once: true })
  try {
    const { url: finalUrl, response } = await fetcher.open(url)
    const body = bodyOf(response)
    let head: Buffer = Buffer.alloc(0)
    while (head.length < HEAD_BYTES) {
      const next = await body.next()
      if (next.done === true) break
      head = Buffer.concat([head, next.value])
    }
    if (!looksLikePlaylist(head)) {
      const file = whole(head, body)
      const range = (part: ByteRange) => fetcher.range(finalUrl, part)
      const mp4 = { body: file, size: sizeOf(response), range, note }
      await playFile(looksLikeMp4(head) ? readableMp4(mp4) : file, sink, signal)
      if (!hasAnnouncedEnd(response)) throw new SourceError('closed')
      return
    }
    note('request', 'the answer is an HLS playlist')
    const playlist = { url: finalUrl, bytes: await playlistOf(head, body) }
    const segments = followHls({ fetcher, playlist, after, onTargetDuration: sink.targetDuration, signal })
    for await (const segment of segments) {
      if (segment.begins !== null) await sink.stretchEnds(segment.begins)
      // If this puller dies within its first segment, the next puller needs to know where it started.
      if (segment.begins?.lost === null) sink.segment(segment.sequence - 1, 0)
      await sink.bytes(segment.bytes)
      sink.segment(segment.sequence, segment.duration)
    }
  } finally {
    signal.removeEventListener('abort', close)
    fetcher.close()
  }
}
