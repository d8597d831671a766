import type { ByteRange, FetchedRange } from './http-fetch.ts'
import { boxHeadAt, LONGEST_HEAD, movedIndex } from './mp4-index.ts'
import { SourceError } from '../source-error.ts'
import type { Note } from '../source-kind.ts'

/** S8: an index of three hours of film is half as large; what may stand before the sound; boxes between sound and index. */
const MAX_INDEX = 16 << 20
const MAX_BEFORE = 1 << 20
const MAX_BOXES = 16
/** Of the first look behind the sound: many an index is in it. */
const LOOK = 64 * 1024

/** What an MP4 file may begin with. */
const FIRST = new Set(['ftyp', 'wide', 'free', 'skip', 'mdat'])
/** What only moves sound along. */
const PASSED = new Set(['ftyp', 'wide', 'free', 'skip', 'uuid', 'pnot'])

/** Do the first bytes of a file, ten at least, look like MP4? */
export const looksLikeMp4 = (head: Buffer): boolean => FIRST.has(head.toString('latin1', 4, 8))

export interface Mp4Source {
  /** The file from its beginning, in pieces. */
  readonly body: AsyncIterable<Buffer>
  /** Bytes of the file, null where its server does not say. */
  readonly size: number | null
  /** Part of the same file; null where the server answers no ranges. */
  readonly range: (range: ByteRange) => Promise<FetchedRange | null>
  readonly note: Note
}

/** Goes from box to box, behind the sound, to the index; throws `no_index` where there is none. */
const findIndex = async ({ size, range }: Mp4Source, begin: number): Promise<{ readonly at: number; readonly moov: Buffer }> => {
  const part = async (wanted: ByteRange): Promise<Buffer> => {
    const fetched = size !== null && wanted.offset >= size ? null : await range(wanted)
    // Another length: another file, or another answer.
    if (fetched === null || (size !== null && fetched.total !== null && fetched.total !== size)) throw new SourceError('no_index')
    return fetched.bytes
  }

  let at = begin
  for (let boxes = 0; boxes < MAX_BOXES; boxes += 1) {
    const bytes = await part({ offset: at, length: LOOK })
    const head = boxHeadAt(bytes, 0)
    if (head === null) throw new SourceError('no_index')
    const length = head.size ?? (size === null ? null : size - at)
    if (length === null) throw new SourceError('no_index')
    if (head.type === 'moov') {
      if (length > MAX_INDEX) throw new SourceError('too_large')
      const rest = length > bytes.length ? await part({ offset: at + bytes.length, length: length - bytes.length }) : Buffer.alloc(0)
      const moov = Buffer.concat([bytes, rest]).subarray(0, length)
      if (moov.length < length) throw new SourceError('no_index')
      return { at, moov }
    }
    at += length
  }
  throw new SourceError('no_index')
}

/** Pieces of a body, of which some may be put back. */
const createCursor = (body: AsyncIterable<Buffer>) => {
  const pieces = body[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)

  const next = async (): Promise<Buffer | null> => {
    const piece = await pieces.next()
    return piece.done === true ? null : piece.value
  }

  return {
    held: () => held,
    /** Holds so many bytes, or all that there are. */
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

/** Where the sound begins and ends in a file that has it before its index; null for any other, which can be read as it comes. */
const soundFirst = async (cursor: Cursor): Promise<{ readonly begin: number; readonly end: number } | null> => {
  let at = 0
  while (at < MAX_BEFORE) {
    await cursor.hold(at + LONGEST_HEAD)
    const head = boxHeadAt(cursor.held(), at)
    if (head === null) return null
    if (head.type === 'mdat') {
      // Its length was never written: nobody finished the file.
      if (head.size === null) throw new SourceError('no_index')
      return { begin: at, end: at + head.size }
    }
    if (head.size === null || !PASSED.has(head.type)) return null
    at += head.size
  }
  return null
}

/**
 * An MP4 file in an order in which it can be read without going back: where the index (`moov`) stands behind the sound,
 * it is asked for first and put in front of it, with its tables of offsets moved. Throws `no_index` where that cannot be.
 */
export async function* readableMp4(source: Mp4Source): AsyncGenerator<Buffer, void, undefined> {
  const cursor = createCursor(source.body)
  const sound = await soundFirst(cursor)
  if (sound === null) return yield* cursor.rest()
  source.note('ask', 'the index of the MP4 file is behind its sound: it is asked for by itself')
  const { at: end, moov } = await findIndex(source, sound.end)
  let at = 0
  for await (const piece of cursor.rest()) {
    const wanted = piece.subarray(0, end - at)
    if (at <= sound.begin && sound.begin < at + wanted.length) {
      yield wanted.subarray(0, sound.begin - at)
      yield movedIndex(moov, sound.begin, moov.length)
      yield wanted.subarray(sound.begin - at)
    } else yield wanted
    at += piece.length
    if (at >= end) return
  }
  throw new SourceError('closed')
}
