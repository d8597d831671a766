import assert from 'node:assert/strict'
import test from 'ava'
import type { TranscriptFrame } from '../../../../domain/transcript/frame.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { AUDIO, startSessions } from '../../../support/worlds/session-world.ts'

const WORDS = [
  { start: 0.1004, end: 0.25, text: 'Good', confidence: 0.98764 },
  { start: 0.25, end: 0.5, text: ' morning.', confidence: 1 },
]
const ROUNDED_WORDS = [
  { start: 0.1, end: 0.25, text: 'Good', confidence: 0.988 },
  { start: 0.25, end: 0.5, text: ' morning.', confidence: 1 },
]

/** Sends this config and one final with words. Returns the frames and the stored segments. */
const sendFinal = async (
  t: Parameters<typeof startSessions>[0],
  config: { readonly words?: boolean },
  sampleOffset = 0,
) => {
  const { lifecycle, pipelines, attach, listen } = startSessions(t)
  const live = lifecycle.add({ translations: [{ model: 'en-es', from: 'en', to: 'es' }] })
  live.point = { ...live.point, sampleOffset }
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure(config)
  session.audio(AUDIO)
  pipelines.of(live.id).partial(1, 'Good mor')
  await pipelines.of(live.id).final(1, 'Good morning.', { words: WORDS })
  await eventually(() => assert.ok(signals.some(({ kind }) => kind === 'translation')))
  const frames = signals.filter((signal): signal is TranscriptFrame => 'segment' in signal)
  return { frames, segments: live.segments }
}

test('a session with words gets the words of each final, in frame and log, to the millisecond', async (t) => {
  const { frames, segments } = await sendFinal(t, { words: true })
  t.deepEqual(
    frames.map(({ final, words }) => [final, words]),
    [
      [false, undefined],
      [true, ROUNDED_WORDS],
      [true, undefined],
    ],
  )
  t.deepEqual(
    segments.map(({ kind, words }) => [kind, words]),
    [['transcription', ROUNDED_WORDS], ['translation', undefined]],
  )
})

test('words use the clock of the session, like their final', async (t) => {
  const { frames } = await sendFinal(t, { words: true }, 16_000 * 60)
  t.deepEqual(frames[1]?.words?.map(({ start, end }) => [start, end]), [[60.1, 60.25], [60.25, 60.5]])
})

test('a session that does not request words gets no words', async (t) => {
  for (const config of [{}, { words: false }]) {
    const { frames, segments } = await sendFinal(t, config)
    for (const line of [...frames, ...segments]) t.false('words' in line)
  }
})
