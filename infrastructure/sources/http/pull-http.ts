import type { IncomingMessage } from 'node:http'
import { looksLikePlaylist } from './hls-playlist.ts'
import { followHls, MAX_PLAYLIST } from './hls-segments.ts'
import { createFetcher } from './http-fetch.ts'
import type { ByteRange } from './http-fetch.ts'
import { looksLikeMp4, readableMp4 } from './mp4-file.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'
import type { PullKind, SourceSink } from '../source-kind.ts'

/** Enough to tell a playlist from anything else. */
const HEAD = 10

/** A body that ends where its own head, or its last chunk, says; an endless one ends when the server goes away (D56). */
const saysWhereItEnds = ({ headers }: IncomingMessage): boolean =>
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
    if (size > MAX_PLAYLIST) throw new SourceError('too_large')
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

/** Whatever stands behind an http or https URL: a playlist, a file, an endless stream. */
export const pullHttp: PullKind = async ({ url, after, note }, sink, guard, signal) => {
  const fetcher = createFetcher(guard, url, note)
  const close = (): void => fetcher.close()
  signal.addEventListener('abort', close, { once: true })
  try {
    const { url: final, response } = await fetcher.open(url)
    const body = bodyOf(response)
    let head: Buffer = Buffer.alloc(0)
    while (head.length < HEAD) {
      const next = await body.next()
      if (next.done === true) break
      head = Buffer.concat([head, next.value])
    }
    if (!looksLikePlaylist(head)) {
      const file = whole(head, body)
      const mp4 = { body: file, size: sizeOf(response), range: (range: ByteRange) => fetcher.range(final, range), note }
      await playFile(looksLikeMp4(head) ? readableMp4(mp4) : file, sink, signal)
      if (!saysWhereItEnds(response)) throw new SourceError('closed')
      return
    }
    note('ask', 'the answer is an HLS playlist')
    const playlist = { url: final, bytes: await playlistOf(head, body) }
    for await (const segment of followHls({ fetcher, playlist, after, onTargetDuration: sink.targetDuration, signal })) {
      if (segment.begins !== null) await sink.stretchEnds(segment.begins)
      // Whoever comes after a puller that dies within its first segment has to know where it began.
      if (segment.begins?.lost === null) sink.segment(segment.sequence - 1, 0)
      await sink.bytes(segment.bytes)
      sink.segment(segment.sequence, segment.duration)
    }
  } finally {
    signal.removeEventListener('abort', close)
    fetcher.close()
  }
}
