import test from 'ava'
import { readableMp4 } from '../../../../../infrastructure/sources/http/mp4-file.ts'
import { sourceErrorOf } from '../../../../../infrastructure/sources/source-error.ts'
import { box, indexOf, longBox, table } from '../../../../support/sources/mp4-boxes.ts'

interface ServerOptions {
  /** The length that the server reports, or null without a length. */
  readonly size?: number | null
  readonly ranges?: boolean
  /** Bytes of each piece of the body. */
  readonly piece?: number
  /** The file that range requests read. */
  readonly rangeFile?: Buffer
}

/** Reads a file. Returns its bytes or an error code, and the offsets of the range requests. */
const read = async (
  file: Buffer,
  { size = file.length, ranges = true, piece = 7, rangeFile = file }: ServerOptions = {},
) => {
  const offsets: Array<number> = []
  const pieces: Array<Buffer> = []
  const body = async function* (): AsyncGenerator<Buffer> {
    for (let at = 0; at < file.length; at += piece) yield file.subarray(at, at + piece)
  }
  const source = {
    body: body(), size, note: () => undefined,
    range: async ({ offset, length }: { offset: number; length: number }) => {
      offsets.push(offset)
      return ranges && offset < rangeFile.length
        ? {
            url: new URL('http://a.example'),
            bytes: rangeFile.subarray(offset, offset + length),
            total: rangeFile.length,
          }
        : null
    },
  }
  try {
    for await (const bytes of readableMp4(source)) pieces.push(bytes)
  } catch (error) {
    return { code: sourceErrorOf(error).code, offsets }
  }
  return { bytes: Buffer.concat(pieces), offsets }
}

test('an index at the end of a file is moved to the front with adjusted tables; the rest stays', async (t) => {
  const [first, sound] = [
    Buffer.concat([box('ftyp', Buffer.from('M4A ')), box('free')]),
    Buffer.from('sound and more sound'),
  ]
  for (const mdat of [box('mdat', sound), longBox('mdat', sound)]) {
    const begin = first.length
    const late = (by: number): Buffer =>
      indexOf(table('stco', begin + 8 + by, 3, begin + 12 + by), table('co64', begin + 16 + by))
    for (const [between, piece] of [
      [Buffer.alloc(0), 7],
      [Buffer.alloc(0), 1000],
      [box('free', Buffer.alloc(70_000)), 1000],
    ] as const) {
      const file = Buffer.concat([first, mdat, between, late(0), box('udta', Buffer.from('after'))])
      for (const options of [{ piece }, { piece, size: null }])
        t.deepEqual((await read(file, options)).bytes, Buffer.concat([first, late(late(0).length), mdat, between]))
    }
  }
  const early = Buffer.concat([first, indexOf(table('stco', 1)), box('mdat', sound)])
  t.deepEqual(await read(early), { bytes: early, offsets: [] })
  for (const text of [
    '',
    'x',
    '\0\0\0\x03ftyp',
    '\0\0\0\x01ftyp\0\0\0\0\0\0\0\x0f',
    '\0\0\0\x01ftyp\xff\xff\xff\xff\xff\xff\xff\xff',
    '\0\0\0\0free and no end',
  ])
    t.deepEqual(await read(Buffer.from(text, 'latin1')), { bytes: Buffer.from(text, 'latin1'), offsets: [] })
})

test('an unavailable or false index is a failure with a code, after few requests', async (t) => {
  const [first, mdat] = [box('ftyp'), box('mdat', Buffer.from('sound'))]
  const withIndex = (...index: ReadonlyArray<Buffer>): Buffer => Buffer.concat([first, mdat, ...index])
  const good = withIndex(indexOf(table('stco', 16)))
  const overflow = Buffer.from(table('stco', 16))
  overflow.writeUInt32BE(0xffffffff, 12)
  const tooMany = Buffer.from(table('stco', 16))
  tooMany.writeUInt32BE(0xffffffff, 12 - 8)
  const cases: ReadonlyArray<readonly [string, Buffer, ServerOptions, string, number]> = [
    ['no ranges', good, { ranges: false }, 'no_index', 1],
    ['another file', good, { rangeFile: Buffer.concat([good, box('free')]) }, 'no_index', 1],
    ['no index', withIndex(), {}, 'no_index', 0],
    ['no index, no length', withIndex(), { size: null }, 'no_index', 1],
    ['cut off while it was written', Buffer.concat([first, box('mdat', Buffer.from('sound'), 0)]), {}, 'no_index', 0],
    ['sound beyond the end', Buffer.concat([first, box('mdat', Buffer.from('sound'), 1_000_000)]), {}, 'no_index', 0],
    [
      'sound without end',
      Buffer.concat([first, longBox('mdat', Buffer.from('sound'), 2n ** 52n)]),
      { size: null },
      'no_index',
      1,
    ],
    ['half an index', good.subarray(0, -3), {}, 'no_index', 1],
    ['a huge index', withIndex(box('moov', [], 17 << 20)), { size: null }, 'too_large', 1],
    ['an index to the end', withIndex(box('moov', table('stco', 16), 0)), { size: null }, 'no_index', 1],
    ['a box of no length', withIndex(box('free', [], 3), indexOf()), {}, 'no_index', 1],
    ['boxes without end', withIndex(...Array.from({ length: 100 }, () => box('free'))), {}, 'no_index', 16],
    ['a packed index', withIndex(box('moov', box('cmov', Buffer.from('zlib')))), {}, 'no_index', 1],
    ['a box that is larger than its parent', withIndex(box('moov', box('trak', [], 100))), {}, 'no_index', 1],
    ['an offset beyond 32 bits', withIndex(indexOf(table('stco', 0xfffffff0))), {}, 'no_index', 1],
    [
      'a table that is too short',
      withIndex(indexOf(box('stco', Buffer.from([0, 0, 0, 0, 255, 255, 255, 255])))),
      {},
      'no_index',
      1,
    ],
  ]
  for (const [name, file, options, code, requests] of cases) {
    const result = await read(file, options)
    t.deepEqual([result.code, result.offsets.length], [code, requests], name)
  }
  const deep = Array.from({ length: 10_000 }).reduce<Buffer>((inner) => box('free', inner), Buffer.alloc(0))
  t.is((await read(withIndex(box('moov', deep)))).code, undefined, 'boxes without tables are not parsed')
})
