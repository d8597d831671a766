import type { ByteRange, FetchedRange } from './http-fetch.ts'
import { boxHeadAt, LONG_HEADER_BYTES, movedIndex } from './mp4-index.ts'
import { SourceError } from '../source-error.ts'
import type { Note } from '../source-kind.ts'

/** Limit for the index: twice the size of the index of a three-hour film. */
const MAX_INDEX_BYTES = 16 << 20
/** Limit for the boxes before the audio. */
const MAX_BYTES_BEFORE_AUDIO = 1 << 20
/** Maximum number of boxes between audio and index. */
const MAX_BOXES = 16
/** Size of the first request after the audio. Its answer often contains the whole index. */
const FIRST_RANGE_BYTES = 64 * 1024

const FIRST_BOXES = new Set(['ftyp', 'wide', 'free', 'skip', 'mdat'])
/** Types of boxes that may come before the audio. */
const SKIPPED_BOXES = new Set(['ftyp', 'wide', 'free', 'skip', 'uuid', 'pnot'])

/** Whether a file with these first bytes (at least ten) is an MP4 file. */
export const looksLikeMp4 = (head: Buffer): boolean => FIRST_BOXES.has(head.toString('latin1', 4, 8))

export interface Mp4Source {
  /** The file from its beginning, in pieces. */
  readonly body: AsyncIterable<Buffer>
  /** Size of the file in bytes; null: unknown. */
  readonly size: number | null
  /** Fetches part of the same file; null: the server does not support ranges. */
  readonly range: (range: ByteRange) => Promise<FetchedRange | null>
  readonly note: Note
}

/** Reads the boxes after the audio up to the index. Throws `no_index` when there is none. */
const findIndex = async (
  { size, range }: Mp4Source,
  begin: number,
): Promise<{ readonly at: number; readonly moov: Buffer }> => {
  const part = async (wanted: ByteRange): Promise<Buffer> => {
    const fetched = size !== null && wanted.offset >= size ? null : await range(wanted)
    if (fetched === null) throw new SourceError('no_index')
    // Another total size means that the server has answered with another file.
    if (size !== null && fetched.total !== null && fetched.total !== size) throw new SourceError('no_index')
    return fetched.bytes
  }

  let at = begin
  for (let boxes = 0; boxes < MAX_BOXES; boxes += 1) {
    const bytes = await part({ offset: at, length: FIRST_RANGE_BYTES })
    const head = boxHeadAt(bytes, 0)
    if (head === null) throw new SourceError('no_index')
    const length = head.size ?? (size === null ? null : size - at)
    if (length === null) throw new SourceError('no_index')
    if (head.type === 'moov') {
      if (length > MAX_INDEX_BYTES) throw new SourceError('too_large')
      const missing = length - bytes.length
      const rest = missing > 0 ? await part({ offset: at + bytes.length, length: missing }) : Buffer.alloc(0)
      const moov = Buffer.concat([bytes, rest]).subarray(0, length)
      if (moov.length < length) throw new SourceError('no_index')
      return { at, moov }
    }
    at += length
  }
  throw new SourceError('no_index')
}

/** Reads a body in pieces and can look ahead. */
const createCursor = (body: AsyncIterable<Buffer>) => {
  const pieces = body[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)

  const next = async (): Promise<Buffer | null> => {
    const piece = await pieces.next()
    return piece.done === true ? null : piece.value
  }

  return {
    held: () => held,
    /** Reads ahead until `size` bytes are held, or to the end of the body. */
    hold: async (size: number): Promise<void> => {
      while (held.length < size) {
        const piece = await next()
        if (piece === null) return
        held = Buffer.concat([held, piece])
      }
    },
    rest: async function* (): AsyncGenerator<Buffer, void, undefined> {
      if (held.length > 0) yield held
      for (let piece = await next(); piece !== null; piece = await next()) yield piece
    },
  }
}

type Cursor = ReturnType<typeof createCursor>

/** Returns the offsets of the audio if it comes before the index; null: the file can be read in order. */
const audioBeforeIndex = async (
  cursor: Cursor,
): Promise<{ readonly begin: number; readonly end: number } | null> => {
  let at = 0
  while (at < MAX_BYTES_BEFORE_AUDIO) {
    await cursor.hold(at + LONG_HEADER_BYTES)
    const head = boxHeadAt(cursor.held(), at)
    if (head === null) return null
    if (head.type === 'mdat') {
      // A missing length means that the recording was not completed.
      if (head.size === null) throw new SourceError('no_index')
      return { begin: at, end: at + head.size }
    }
    if (head.size === null || !SKIPPED_BOXES.has(head.type)) return null
    at += head.size
  }
  return null
}

/**
 * Yields an MP4 file in an order that can be decoded without seeking. If the index (`moov`) is after the audio, it
 * fetches the index first and yields it before the audio, with adjusted offsets. Throws `no_index` if this is
 * impossible.
 */
export async function* readableMp4(source: Mp4Source): AsyncGenerator<Buffer, void, undefined> {
  const cursor = createCursor(source.body)
  const audio = await audioBeforeIndex(cursor)
  if (audio === null) return yield* cursor.rest()
  source.note('request', 'the index of the MP4 file is after its audio: fetching it separately')
  const { at: end, moov } = await findIndex(source, audio.end)
  let at = 0
  for await (const piece of cursor.rest()) {
    const wanted = piece.subarray(0, end - at)
    if (at <= audio.begin && audio.begin < at + wanted.length) {
      yield wanted.subarray(0, audio.begin - at)
      yield movedIndex(moov, audio.begin, moov.length)
      yield wanted.subarray(audio.begin - at)
    } else yield wanted
    at += piece.length
    if (at >= end) return
  }
  throw new SourceError('closed')
}
