import test from 'ava'
import { compressionRatioOf, segmentsOf } from '../../../../infrastructure/onnx/hypothesis.ts'

const layout = { timestampBegin: 200, timePrecision: 0.02, endOfText: 100 }
const text = (tokens: ReadonlyArray<number>): string => tokens.map((token) => ` w${token}`).join('')
const segments = (...tokens: ReadonlyArray<number>) => segmentsOf(tokens, 5, layout, text)

test('the text between two timestamps is a segment', (t) => {
  t.deepEqual(segments(200, 1, 2, 250, 260, 3, 300), [
    { start: 0, end: 1, text: ' w1 w2' },
    { start: 1.2, end: 2, text: ' w3' },
  ])
})

test('text without a closing timestamp reaches to the end of the audio', (t) => {
  t.deepEqual(segments(250, 1), [{ start: 1, end: 5, text: ' w1' }])
  t.deepEqual(segments(1, 2), [{ start: 0, end: 5, text: ' w1 w2' }])
})

test('timestamps after the end of the audio become its end', (t) => {
  t.deepEqual(segments(250, 1, 700), [{ start: 1, end: 5, text: ' w1' }])
})

test('without text there are no segments', (t) => {
  t.deepEqual(segments(), [])
  t.deepEqual(segments(200, 250), [])
  t.deepEqual(segmentsOf([200, 1, 250], 5, layout, () => '  '), [])
})

test('special tokens are not text', (t) => {
  t.deepEqual(segments(200, 1, 150, 250), [{ start: 0, end: 1, text: ' w1' }])
})

test('repetitive text has a high compression ratio', (t) => {
  t.true(compressionRatioOf('The man sat by the river.') < 1)
  t.true(compressionRatioOf('the man '.repeat(30)) > 2.4)
  t.is(compressionRatioOf(''), 0)
})
