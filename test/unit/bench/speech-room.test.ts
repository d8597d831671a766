import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { detectQuiets } from '../../../bench/speech/quiet.ts'
import { lineOf, roomOf } from '../../../bench/speech/room.ts'
import { SAMPLE_RATE, VAD_FRAME, type PassTime, type SpeechEngine } from '../../../application/ports/engine.ts'

const engine = (pass: PassTime | null, lanes: number): Pick<SpeechEngine, 'passTime' | 'deviceOf'> => ({
  passTime: () => pass,
  deviceOf: () => ({ name: 'cpu', lanes }),
})

test('the capacity follows the rule of admission: lanes divided by the share of a session', (t) => {
  const room = roomOf([engine({ usual: 0.6, least: 0.2, busy: 0.3 }, 2)], 'a')
  t.deepEqual(room, { pass_s: 0.6, busy_s: 0.3, share: 0.42, lanes: 2, sessions: 4 })
  const slower = engine({ usual: 0.5, least: 0.2 }, 1)
  t.like(roomOf([engine({ usual: 0.3, least: 0.2 }, 1), slower], 'a'), {
    pass_s: 0.5,
    busy_s: null,
    lanes: 2,
    sessions: 2,
  })
  t.is(roomOf([engine(null, 2)], 'a'), null)
  t.is(
    lineOf('a', room),
    'a: a pass takes 0.6 s, 0.3 s of a processor; a session takes 0.42 of 2 lanes; ' +
      '4 sessions can be transcribed in time',
  )
  t.is(lineOf('a', null), 'a: no pass was measured')
})

test('a long recording is sent to the detector in parts, each with the state after the previous part', async (t) => {
  const states: Array<number> = []
  const isLoud = (samples: Int16Array, frame: number): boolean => (samples[frame * VAD_FRAME] ?? 0) > 0
  const detector: Pick<SpeechEngine, 'detectSpeech'> = {
    detectSpeech: async (samples, state) => {
      const before = state?.[0] ?? 0
      states.push(before)
      const probabilities = Float32Array.from({ length: samples.length / VAD_FRAME }, (_, i) =>
        isLoud(samples, i) ? 1 : 0,
      )
      return E.right({ probabilities, state: Float32Array.of(before + probabilities.length) })
    },
  }
  const samples = new Int16Array(10 * SAMPLE_RATE - 100).fill(1000, 2 * SAMPLE_RATE, 9 * SAMPLE_RATE)
  const [before, after, ...others] = await detectQuiets(detector, samples)
  t.deepEqual([states, others], [[0, 125, 250], []])
  t.true(before?.start === 0 && Math.abs(before.end - 2) < 0.04, JSON.stringify(before))
  t.true(Math.abs((after?.start ?? 0) - 9) < 0.04, JSON.stringify(after))
  t.is(after?.end, samples.length / SAMPLE_RATE)
})
