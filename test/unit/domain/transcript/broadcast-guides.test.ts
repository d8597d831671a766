import test from 'ava'
import { finalSegments } from '../../../../application/pipeline/policy/segments.ts'
import type { Word } from '../../../../application/pipeline/policy/words.ts'
import type { CaptionShape } from '../../../../domain/transcript/captions.ts'
import { toSubRip } from '../../../../domain/transcript/subtitles.ts'
import { columns, flawsOf } from '../../../support/subtitles/guides.ts'
import { TRANSCRIPTS } from '../../../support/subtitles/transcripts.ts'

const [LIVE, SUBTITLES] = [{ maxChars: 80, maxLines: 2 }, { maxChars: 42, maxLines: 2 }]
/** Of live captions. The segments of the last one are whole phrases. */
const SHAPES = [LIVE, SUBTITLES, { maxChars: 1000, maxLines: 1 }]
const COLUMNS_PER_SECOND = 14
const PAUSE_SECONDS = 1.2

/** The words of a phrase as a model returns them. */
const wordsOf = (phrase: string, language: string, from: number): ReadonlyArray<Word> => {
  let at = from
  const texts = /ja|zh|th/.test(language)
    ? Array.from(new Intl.Segmenter(language, { granularity: 'word' }).segment(phrase), ({ segment }) => segment)
    : phrase.split(' ').map((text) => ` ${text}`)
  return texts.map((text) => ({ text, start: at, end: (at += columns(text) / COLUMNS_PER_SECOND) }))
}

const segmentsOf = (phrases: ReadonlyArray<string>, language: string, shape: CaptionShape) => {
  let from = 0
  return phrases.flatMap((phrase) => {
    const words = wordsOf(phrase, language, from)
    from = (words.at(-1)?.end ?? from) + PAUSE_SECONDS
    return finalSegments(words, shape, 1, 0)
  })
}

test('20 transcripts in nine languages meet the figures of the guides for subtitles', (t) => {
  t.is(TRANSCRIPTS.length, 20)
  t.is(new Set(TRANSCRIPTS.map(({ language }) => language)).size, 9)
  const flaws = TRANSCRIPTS.flatMap(({ language, phrases }) => SHAPES.flatMap((shape) => {
    const segments = segmentsOf(phrases, language, shape)
    return flawsOf(toSubRip(segments, SUBTITLES), segments, language).map((flaw) => `${language}: ${flaw}`)
  }))
  t.deepEqual(flaws, [])
})
