import { createCipheriv } from 'node:crypto'
import test from 'ava'
import { followHls, type HlsPiece } from '../../../../../infrastructure/sources/http/hls-segments.ts'
import type { Fetcher } from '../../../../../infrastructure/sources/http/http-fetch.ts'
import { SourceError } from '../../../../../infrastructure/sources/source-error.ts'

const URL_OF_PLAYLIST = new URL('http://radio.example/live/index.m3u8')

/** A window of a live playlist with segments of one second. */
const window = (first: number, last: number, tags = ''): string =>
  `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:${first}\n${tags}` +
  Array.from({ length: last - first + 1 }, (_, index) => `#EXTINF:1,\n${first + index}.ts\n`).join('')

/**
 * Follows playlists that arrive in order. `answers` maps other paths of the server to their content; a number is an
 * HTTP status.
 */
const follow = (
  playlists: ReadonlyArray<string>,
  after: number | null,
  answers: Readonly<Record<string, Buffer | number | ReadonlyArray<Buffer>>> = {},
) => {
  const waiting = [...playlists]
  const stop = new AbortController()
  const next = (): Buffer => {
    const text = waiting.shift()
    if (text === undefined) stop.abort()
    return Buffer.from(text ?? window(0, 0))
  }
  const piecesOf = (url: URL): ReadonlyArray<Buffer> => {
    if (url.href === URL_OF_PLAYLIST.href) return [next()]
    const answer = answers[url.pathname.slice('/live/'.length)] ?? Buffer.from(`[${url.pathname}]`)
    if (typeof answer === 'number') throw new SourceError(`http_${answer}`)
    return Buffer.isBuffer(answer) ? [answer] : answer
  }
  const fetcher: Fetcher = {
    open: () => Promise.reject(new Error('not here')),
    range: () => Promise.reject(new Error('not here')),
    bytes: async (url) => ({ url, bytes: Buffer.concat(piecesOf(url)) }),
    pieces: async function* (url) {
      yield* piecesOf(url)
    },
    close: () => undefined,
  }
  return followHls({
    fetcher,
    playlist: { url: URL_OF_PLAYLIST, bytes: next() },
    after,
    language: 'fr',
    onTargetDuration: () => undefined,
    onWait: () => undefined,
    signal: stop.signal,
  })
}

const numbersOf = async (pieces: AsyncIterable<HlsPiece>): Promise<ReadonlyArray<string>> => {
  const numbers: string[] = []
  for await (const { sequence, begins } of pieces) numbers.push(begins !== null ? `new ${sequence}` : `${sequence}`)
  return numbers
}

test('a live playlist starts three segments before its end and delivers each new segment once', async (t) => {
  t.deepEqual(await numbersOf(follow([window(10, 15), window(10, 15), window(12, 17)], null)), [
    'new 13',
    '14',
    '15',
    '16',
    '17',
  ])
})

test('a returning source continues after the last transcribed segment, or with the oldest available one', async (t) => {
  t.deepEqual(await numbersOf(follow([window(10, 15)], 11)), ['new 12', '13', '14', '15'])
  t.deepEqual(await numbersOf(follow([window(10, 15)], 15)), [])
  t.deepEqual(await numbersOf(follow([window(20, 22)], 15)), ['new 20', '21', '22'])
})

test('a restarted packager is read from its latest segments; one stale cached answer is ignored', async (t) => {
  t.deepEqual(await numbersOf(follow([window(0, 4)], 90)), ['new 2', '3', '4'])
  t.deepEqual(await numbersOf(follow([window(90, 92), window(0, 1), window(0, 2)], null)), [
    'new 90',
    '91',
    '92',
    'new 0',
    '1',
    '2',
  ])
  t.deepEqual(await numbersOf(follow([window(90, 92), window(88, 90), window(91, 93)], null)), [
    'new 90',
    '91',
    '92',
    '93',
  ])
})

test('a recording is read from start to end; a gap or a lost segment begins a new stretch', async (t) => {
  t.deepEqual(await numbersOf(follow([`${window(0, 4)}#EXT-X-ENDLIST\n`], null)), ['new 0', '1', '2', '3', '4'])
  t.deepEqual(await numbersOf(follow([`${window(0, 3)}#EXT-X-ENDLIST\n`], null, { '1.ts': 404 })), [
    'new 0',
    'new 2',
    '3',
  ])
  t.deepEqual(await numbersOf(follow([window(1, 3), window(7, 8)], null)), ['new 1', '2', '3', 'new 7', '8'])
})

test('a stretch reports the seconds left out before it and whether its clock is new', async (t) => {
  const beginningsOf = async (segments: AsyncIterable<HlsPiece>): Promise<ReadonlyArray<unknown>> => {
    const beginnings: unknown[] = []
    for await (const { sequence, begins } of segments)
      if (begins !== null) beginnings.push([sequence, begins.lost, begins.newClock])
    return beginnings
  }
  const recording = `${window(0, 6)}#EXT-X-ENDLIST\n`.replace(/(?=#EXTINF:1,\n4\.ts)/, '#EXT-X-DISCONTINUITY\n')
  const lostBefore = follow([recording], null, { '2.ts': 404 })
  t.deepEqual(await beginningsOf(lostBefore), [[0, null, false], [3, 1, false], [4, 0, true]])
  const lostWithIt = follow([recording], 1, { '4.ts': 404 })
  t.deepEqual(await beginningsOf(lostWithIt), [[2, 0, false], [5, 1, true]])
  t.deepEqual(await beginningsOf(follow([window(20, 22)], 15)), [[20, 4, false]], 'the segments have expired meanwhile')
  t.deepEqual(await beginningsOf(follow([window(0, 4)], 90)), [[2, null, false]], 'the packager has restarted')
})

test('three lost segments in a row or a lost last segment are a failure; any other error ends at once', async (t) => {
  const codeOf = async (segments: AsyncIterable<HlsPiece>) =>
    (await t.throwsAsync(() => numbersOf(segments), { instanceOf: SourceError }))?.code
  t.is(await codeOf(follow([window(0, 5)], -1, { '0.ts': 404, '1.ts': 410, '2.ts': 404 })), 'http_404')
  t.is(await codeOf(follow([`${window(0, 2)}#EXT-X-ENDLIST\n`], null, { '2.ts': 410 })), 'http_410')
  t.is(await codeOf(follow([window(0, 2)], null, { '1.ts': 500 })), 'http_500')
  t.is(await codeOf(follow([window(0, 2, '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k"\n')], null)), 'encrypted')
  t.is(
    await codeOf(follow([window(0, 2, '#EXT-X-KEY:METHOD=AES-128,URI="k"\n')], null, { k: Buffer.alloc(15) })),
    'bad_playlist',
  )
  t.is(
    await codeOf(
      follow(
        [
          '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nindex.m3u8\n',
          '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nindex.m3u8\n',
        ],
        null,
      ),
    ),
    'bad_playlist',
  )
})

test('segments that the playlist declares as gaps are lost seconds: not fetched, not missing', async (t) => {
  const recording = `${window(0, 6)}#EXT-X-ENDLIST\n`.replaceAll(/(?=#EXTINF:1,\n[2-5]\.ts)/g, '#EXT-X-GAP\n')
  // Three missing segments in a row would be a failure.
  const gone = { '2.ts': 404, '3.ts': 404, '4.ts': 404, '5.ts': 404 }
  const pieces: Array<HlsPiece> = []
  for await (const piece of follow([recording], null, gone)) pieces.push(piece)
  t.deepEqual(pieces.map(({ sequence, begins }) => [sequence, begins?.lost]), [[0, null], [1, undefined], [6, 4]])
})

test('a dead variant is replaced by its backup, also after some segments; nothing is delivered twice', async (t) => {
  const master = ['dead', 'first', 'second', 'dear']
    .map((name, index) => `#EXT-X-STREAM-INF:BANDWIDTH=${index < 3 ? 100 : 900}\n${name}/index.m3u8\n`)
  const recording = (first: number, last: number) => Buffer.from(`${window(first, last)}#EXT-X-ENDLIST\n`)
  const answers = {
    'dead/index.m3u8': 404, 'first/index.m3u8': recording(0, 5), 'second/index.m3u8': recording(0, 5),
    'dear/index.m3u8': recording(0, 5), 'first/3.ts': 503, 'second/4.ts': [Buffer.from('4a'), Buffer.from('4b')],
  }
  const bytesOf = async (more: Readonly<Record<string, number>>): Promise<ReadonlyArray<string>> => {
    const seen: Array<string> = []
    for await (const { bytes } of follow([`#EXTM3U\n${master.join('')}`], null, { ...answers, ...more }))
      seen.push(bytes.toString().replace('[/live/', '').replace('.ts]', ''))
    return seen
  }
  t.deepEqual(await bytesOf({}), ['first/0', 'first/1', 'first/2', 'second/3', '4a4b', 'second/5'])
  const all = { 'first/index.m3u8': 500, 'second/index.m3u8': 403, 'dear/index.m3u8': 403 }
  t.is((await t.throwsAsync(bytesOf(all), { instanceOf: SourceError }))?.code, 'http_404', 'the first error counts')
})

test('a long segment is handed on in pieces of about a mebibyte, decrypted, and counts when it is whole', async (t) => {
  const key = Buffer.alloc(16, 7)
  const plain = Buffer.alloc(5 << 20, 'sound')
  const cipher = createCipheriv('aes-128-cbc', key, Buffer.alloc(16))
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  const chunks = Array.from({ length: Math.ceil(sealed.length / 65_536) }, (_, index) =>
    sealed.subarray(index * 65_536, (index + 1) * 65_536))
  const recording = `${window(0, 0, '#EXT-X-KEY:METHOD=AES-128,URI="k"\n')}#EXT-X-ENDLIST\n`
  const pieces: Array<HlsPiece> = []
  for await (const piece of follow([recording], null, { '0.ts': chunks, k: key })) pieces.push(piece)
  t.true(plain.equals(Buffer.concat(pieces.map(({ bytes }) => bytes))))
  t.true(pieces.every(({ bytes }) => bytes.length <= (1 << 20) + 65_536))
  t.deepEqual(pieces.map(({ isLast }) => isLast), [false, false, false, false, true])
  t.deepEqual(pieces.map(({ begins }) => begins !== null), [true, false, false, false, false])
})

test('a segment that breaks off for good counts as delivered as far as it came', async (t) => {
  const broken = {
    [Symbol.iterator]: function* () {
      yield Buffer.alloc(1 << 20)
      yield Buffer.alloc(1)
      throw new SourceError('closed')
    },
  } as unknown as ReadonlyArray<Buffer>
  const pieces: Array<HlsPiece> = []
  const error = await t.throwsAsync(async () => {
    for await (const piece of follow([window(0, 2)], -1, { '1.ts': broken })) pieces.push(piece)
  }, { instanceOf: SourceError })
  t.is(error?.code, 'closed')
  t.deepEqual(pieces.map(({ sequence, isLast }) => [sequence, isLast]), [[0, true], [1, false], [1, true]])
})

test('a low-latency playlist is played by its whole segments, and a delta update keeps their numbers', async (t) => {
  const lowLatency = (last: number): string => [
    '#EXTM3U', '#EXT-X-TARGETDURATION:4', '#EXT-X-VERSION:9',
    '#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.0,CAN-SKIP-UNTIL=12.0',
    '#EXT-X-PART-INF:PART-TARGET=0.3', '#EXT-X-MEDIA-SEQUENCE:10', '#EXT-X-SKIP:SKIPPED-SEGMENTS=3',
    ...Array.from({ length: last - 12 }, (_, index) => [
      `#EXT-X-PART:DURATION=0.3,URI="${13 + index}.a.mp4",INDEPENDENT=YES`,
      `#EXT-X-PART:DURATION=0.3,URI="${13 + index}.b.mp4",GAP=YES`, '#EXTINF:4,', `${13 + index}.mp4`,
    ]).flat(),
    `#EXT-X-PART:DURATION=0.3,URI="${last + 1}.a.mp4"`, `#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${last + 1}.b.mp4"`,
    '#EXT-X-RENDITION-REPORT:URI="../other/index.m3u8",LAST-MSN=16,LAST-PART=2', '',
  ].join('\n')
  t.deepEqual(await numbersOf(follow([lowLatency(16), lowLatency(17)], null)), ['new 14', '15', '16', '17'])
})
