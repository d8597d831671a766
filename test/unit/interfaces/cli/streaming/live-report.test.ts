import test from 'ava'
import {
  delaysOf,
  partialsOf,
  quantiles,
  transcriptOf,
  translationsOf,
} from '../../../../../interfaces/cli/streaming/live-report.ts'
import type { ReceivedFrame } from '../../../../../interfaces/cli/streaming/live-stream.ts'

const frame = (receivedAt: number, segment: number, final: boolean, text: string): ReceivedFrame => ({
  type: 'transcription',
  start: 0,
  end: 0,
  language: 'en',
  receivedAt,
  segment,
  final,
  text,
})

const frames = [
  frame(1.5, 1, false, 'good'),
  frame(2.5, 1, false, 'wood morning'),
  frame(3.5, 1, true, 'good\nmorning'),
  frame(5, 2, false, 'every'),
  frame(6, 2, true, 'everyone'),
]

test('the transcript consists of the finals without line breaks', (t) => {
  t.is(transcriptOf(frames), 'good morning everyone')
})

test('a word is displayed when a frame first shows it; a phrase is final with its last word', (t) => {
  const words = [
    { word: 'good', end: 1, closesPhrase: false },
    { word: 'morning', end: 2, closesPhrase: true },
    { word: 'everyone', end: 4, closesPhrase: true },
  ]
  t.deepEqual(delaysOf(words, frames), {
    first_display_s: { median: 0.5, p95: 2 },
    final_delay_s: { median: 1.5, p95: 2 },
  })
})

test('a rewrite is a frame that takes back a word', (t) => {
  t.deepEqual(partialsOf(frames), { partials: 3, rewrites: 3 })
})

test('an empty list has no quantiles', (t) => {
  t.deepEqual(quantiles([]), { median: null, p95: null })
})

test('translations are counted by language, with the delay after their final', (t) => {
  const line = (receivedAt: number, segment: number, language: string): ReceivedFrame => ({
    ...frame(receivedAt, segment, true, 'buenos días'), type: 'translation', language,
  })
  const report = translationsOf([...frames, line(3.7, 1, 'es'), line(3.8, 1, 'fr'), line(6.4, 2, 'es')])
  t.deepEqual(report, { translation_counts: { es: 2, fr: 1 }, translation_delay_s: { median: 0.3, p95: 0.4 } })
  t.deepEqual(translationsOf(frames), { translation_counts: {}, translation_delay_s: { median: null, p95: null } })
})
