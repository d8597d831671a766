import test from 'ava'
import { followHls, type HlsSegment } from '../../../../../infrastructure/sources/http/hls-segments.ts'
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
  answers: Readonly<Record<string, Buffer | number>> = {},
) => {
  const waiting = [...playlists]
  const stop = new AbortController()
  const next = (): Buffer => {
    const text = waiting.shift()
    if (text === undefined) stop.abort()
    return Buffer.from(text ?? window(0, 0))
  }
  const fetcher: Fetcher = {
    open: () => Promise.reject(new Error('not here')),
    range: () => Promise.reject(new Error('not here')),
    bytes: async (url) => {
      if (url.href === URL_OF_PLAYLIST.href) return { url, bytes: next() }
      const answer = answers[url.pathname.slice('/live/'.length)] ?? Buffer.from(`[${url.pathname}]`)
      if (typeof answer === 'number') throw new SourceError(`http_${answer}`)
      return { url, bytes: answer }
    },
    close: () => undefined,
  }
  return followHls({
    fetcher,
    playlist: { url: URL_OF_PLAYLIST, bytes: next() },
    after,
    onTargetDuration: () => undefined,
    signal: stop.signal,
  })
}

const numbersOf = async (segments: AsyncIterable<HlsSegment>): Promise<ReadonlyArray<string>> => {
  const numbers: string[] = []
  for await (const { sequence, begins } of segments) numbers.push(begins !== null ? `new ${sequence}` : `${sequence}`)
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
  const beginningsOf = async (segments: AsyncIterable<HlsSegment>): Promise<ReadonlyArray<unknown>> => {
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
  const codeOf = async (segments: AsyncIterable<HlsSegment>) =>
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
