import test from 'ava'
import fc from 'fast-check'
import { toSubRip, toWebVtt } from '../../../../domain/transcript/subtitles.ts'

const shape = { maxChars: 42, maxLines: 2 }
const segmentOf = (start: number, end: number, text: string) => ({ start, end, text })

test('SubRip numbers its cues and writes times with a comma before the milliseconds', (t) => {
  const segments = [
    segmentOf(0, 1.5, 'Good morning.'),
    segmentOf(3599.9996, 3661.25, 'See you.'),
    segmentOf(360_000, 360_001, 'Much later.'),
  ]
  t.is(
    toSubRip(segments, shape),
    '1\n00:00:00,000 --> 00:00:01,500\nGood morning.\n\n' +
      '2\n01:00:00,000 --> 01:01:01,250\nSee you.\n\n' +
      '3\n100:00:00,000 --> 100:00:01,000\nMuch later.\n',
  )
})

test('WebVTT begins with its name and a blank line and writes times with a full stop', (t) => {
  t.is(
    toWebVtt([segmentOf(0, 1.5, 'Good morning.'), segmentOf(2, 3.5, 'Bye.')], shape),
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nGood morning.\n\n00:00:02.000 --> 00:00:03.500\nBye.\n',
  )
})

test('an empty transcript is an empty SubRip file and a WebVTT file with only its header', (t) => {
  t.is(toSubRip([], shape), '')
  t.is(toWebVtt([segmentOf(0, 1, ' \t ')], shape), 'WEBVTT\n')
})

test('markup in the text stays text: escaped in WebVTT, neutralised in SubRip', (t) => {
  const markup = [segmentOf(0, 1, 'a < b & c --> <i>d</i> {\\an8}')]
  t.is(toWebVtt(markup, shape).split('\n')[3], 'a &lt; b &amp; c --&gt; &lt;i&gt;d&lt;/i&gt; {\\an8}')
  const line = toSubRip(markup, shape).split('\n')[2] ?? ''
  t.is(line.replaceAll('\u200B', ''), 'a < b & c --> <i>d</i> {\\an8}', 'the visible text is unchanged')
  t.notRegex(line, /<[a-z/]|-->|\{\\/u)
  t.true(line.startsWith('a < b & c'), 'characters that no player reads as markup are unchanged')
})

test('line breaks, blank lines and control characters in the text never end a cue', (t) => {
  t.is(
    toSubRip([segmentOf(0, 2, 'one\r\n\r\ntwo\u0000\u0085three\u2028four')], shape),
    '1\n00:00:00,000 --> 00:00:02,000\none two three four\n',
  )
})

test('right-to-left text stays unchanged', (t) => {
  for (const text of ['שלום עולם, 123', '\u200Fمرحبا (abc) بالعالم؟\u200F']) {
    t.is(toSubRip([segmentOf(0, 1, text)], shape).split('\n')[2], text)
    t.is(toWebVtt([segmentOf(0, 1, text)], shape).split('\n')[3], text)
  }
})

test('a segment longer than a caption becomes several cues, each with its share of the time', (t) => {
  t.is(
    toSubRip([segmentOf(10, 14, 'aaaa bbbb cccc dddd')], { maxChars: 4, maxLines: 2 }),
    '1\n00:00:10,000 --> 00:00:12,025\naaaa\nbbbb\n\n2\n00:00:12,105 --> 00:00:14,000\ncccc\ndddd\n',
  )
})

const timesOf = (segments: ReadonlyArray<ReturnType<typeof segmentOf>>): ReadonlyArray<string> =>
  toWebVtt(segments, shape)
    .split('\n')
    .filter((line) => line.includes('-->'))
    .map((line) => line.replaceAll('00:00:', ''))

test('a cue ends 80 ms before the next one; a cue without time lasts a millisecond', (t) => {
  t.deepEqual(timesOf([segmentOf(0, 5, 'a'), segmentOf(4, 4, 'b'), segmentOf(4, 4, 'c')]), [
    '00.000 --> 03.920', '04.000 --> 04.001', '04.081 --> 05.081',
  ])
})

test('a cue that is too short to be read lasts into the free time after it, and no longer', (t) => {
  const text = 'This sentence of 44 letters is spoken quickly'
  t.deepEqual(timesOf([segmentOf(0, 0.1, text), segmentOf(9, 12, 'slow')]), ['00.000 --> 02.648', '09.000 --> 12.000'])
  const [yes, no] = [segmentOf(0, 0.1, 'Yes.'), segmentOf(0.7, 2, 'No.')]
  t.deepEqual(timesOf([yes, no]), ['00.000 --> 00.620', '00.700 --> 02.000'])
  t.deepEqual(timesOf([yes]), ['00.000 --> 01.000'])
  t.deepEqual(timesOf([segmentOf(0, 0.1, '東京は今日も暑いです。')]), ['00.000 --> 01.295'], 'wide letters take twice the time')
})

const segment = fc.tuple(
  fc.double({ min: 0, max: 100, noNaN: true }),
  fc.double({ min: 0, max: 10, noNaN: true }),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
)
const shapes = fc.record({ maxChars: fc.integer({ min: 1, max: 60 }), maxLines: fc.integer({ min: 1, max: 4 }) })

test('for any segments, cues are ordered, do not overlap, have no blank line and contain all text', (t) => {
  fc.assert(
    fc.property(fc.array(segment), shapes, (inputs, shape) => {
      const segments = inputs
        .map(([start, length, text]) => segmentOf(start, start + length, text))
        .toSorted((a, b) => a.start - b.start)
      const blocks = toSubRip(segments, shape)
        .replace(/\n$/, '')
        .split('\n\n')
        .filter((block) => block !== '')
      let last = 0
      for (const [index, block] of blocks.entries()) {
        const [number, time = '', ...lines] = block.split('\n')
        const [from = NaN, to = NaN] = time.split(' --> ').map((stamp) => {
          const [hours = NaN, minutes = NaN, seconds = NaN, ms = NaN] = stamp.split(/[:,]/).map(Number)
          return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
        })
        if (number !== String(index + 1) || !(from >= last) || !(to > from))
          throw new Error(`cue ${index + 1}: ${block}`)
        if (lines.length < 1 || lines.length > shape.maxLines || lines.some((line) => line.trim() === ''))
          throw new Error(`lines of ${block}`)
        last = to
      }
      const words = (text: string): string => text.replaceAll(/[\s\u200B\p{Cc}]/gu, '')
      const subtitleText = blocks.map((block) => block.split('\n').slice(2).join('')).join('')
      if (words(subtitleText) !== words(segments.map(({ text }) => text).join(''))) throw new Error('text was lost')
    }),
  )
  t.pass()
})
