import test from 'ava'
import { ended, NO_CAPTIONS, withFrame, type Captions, type TextFrame } from '../../../../interfaces/client/captions.ts'

const frame = (segment: number, text: string, changes: Partial<TextFrame> = {}): TextFrame =>
  ({ type: 'transcription', start: segment, end: segment + 0.9, text, language: 'en', segment, final: true,
    ...changes })

const unnumbered = ({ segment: _s, final: _f, ...frame }: TextFrame): TextFrame => frame

const after = (...frames: ReadonlyArray<TextFrame>): Captions => frames.reduce(withFrame, NO_CAPTIONS)
const texts = ({ lines }: Captions): ReadonlyArray<string> => lines.map(({ text }) => text)

test('a draft replaces the previous draft, and the final appears once', (t) => {
  const draft = after(frame(1, 'hel', { final: false }), frame(1, 'hello wor', { final: false }))
  t.deepEqual([texts(draft), draft.running?.text, draft.cursor], [[], 'hello wor', null])
  const final = withFrame(draft, frame(1, 'Hello world.'))
  t.deepEqual([texts(final), final.running, final.cursor], [['Hello world.'], null, 1])
  t.deepEqual(texts(withFrame(final, frame(1, 'Hello world.'))), ['Hello world.'])
})

test('a translation stays next to its line, one for each language', (t) => {
  const { lines } = after(
    frame(1, 'one'), frame(2, 'two'), frame(1, 'uno', { type: 'translation', language: 'es' }),
    frame(1, 'un', { type: 'translation', language: 'fr' }),
    frame(9, 'nueve', { type: 'translation', language: 'es' }),
  )
  t.deepEqual(lines.map(({ translations }) => translations), [{ es: 'uno', fr: 'un' }, {}])
})

test('lines that arrive after a reconnect appear in their place', (t) => {
  const captions = after(frame(1, 'one'), frame(3, 'three'), frame(2, 'two'))
  t.deepEqual([texts(captions), captions.cursor], [['one', 'two', 'three'], 3])
})

test('without segment numbers, text is ordered by its start time and completed by a translation or the end', (t) => {
  const captions = after(
    ...[frame(1, 'on'), frame(1, 'one'), frame(2, 'two'), frame(2, 'dos', { type: 'translation', language: 'es' }),
      frame(3, 'thr')].map(unnumbered),
  )
  t.deepEqual([texts(captions), captions.running?.text, captions.cursor], [['one', 'two'], 'thr', null])
  t.deepEqual(captions.lines[1]?.translations, { es: 'dos' })
  t.deepEqual(texts(ended(captions)), ['one', 'two', 'thr'])
  t.is(ended(after(frame(1, 'draft', { final: false }))).running, null)
})
