import test from 'ava'
import { activePower, withNoise, withPauses } from '../../../bench/speech/altered.ts'
import { finalLags } from '../../../bench/speech/final-lag.ts'
import { quietsOf, soundingPart } from '../../../bench/speech/quiet.ts'
import { spokenWords } from '../../../bench/speech/screen.ts'
import { SAMPLE_RATE, VAD_FRAME } from '../../../application/ports/engine.ts'

/** Speech probabilities. Each span is [number of frames, probability]. */
const frames = (...runs: ReadonlyArray<readonly [frames: number, probability: number]>): ReadonlyArray<number> =>
  runs.flatMap(([frames, probability]) => Array.from({ length: frames }, () => probability))

const seconds = (count: number): number => (count * VAD_FRAME) / SAMPLE_RATE

test('the time outside the speech regions is silence', (t) => {
  const probabilities = frames([10, 0], [20, 0.9], [30, 0.1], [20, 0.9], [25, 0.1])
  const quiets = quietsOf(probabilities, probabilities.length * VAD_FRAME).map(({ start, end }) => [start, end])
  t.deepEqual(quiets, [[0, 10], [30, 60], [80, 105]].map((both) => both.map(seconds)))
  t.deepEqual(quietsOf(frames([20, 0.9]), 20 * VAD_FRAME), [])
  t.deepEqual(quietsOf(frames([20, 0]), 20 * VAD_FRAME), [{ start: 0, end: seconds(20) }])
})

test('a word that extends into silence is cut to its longer part outside the silence', (t) => {
  const [wordBefore, wordAfter] = [{ word: 'not', start: 3, end: 4.2 }, { word: 'what', start: 3.9, end: 5.5 }]
  const quiets = [{ start: 0, end: 1 }, { start: 4, end: 5 }]
  t.deepEqual(soundingPart(wordBefore, quiets), { word: 'not', start: 3, end: 4 })
  t.deepEqual(soundingPart(wordAfter, quiets), { word: 'what', start: 5, end: 5.5 })
  const inside = { word: 'a', start: 4.1, end: 4.2 }
  t.is(soundingPart(inside, quiets), inside)
})

/** The word "kept" includes the silence after it. No pause separates "cat" and "sat". */
const SPOKEN = spokenWords([[0, 0.5, 'Ill'], [0.5, 2.5, 'kept'], [3, 3.5, 'cat'], [3.5, 4, 'sat.']], 'en')
const QUIETS = [{ start: 1.5, end: 3 }, { start: 4.5, end: 5 }]

type Final = readonly [at: number, text: string, end?: number]

const lagsOf = (finals: ReadonlyArray<Final>, spoken = SPOKEN, quiets = QUIETS) => {
  const timedFinals = finals.map(([at, text, end = 0]) => ({ at, text, end }))
  return finalLags(timedFinals, { spoken, quiets, language: 'en' }, 1).map(({ lag, end }) => `${lag} ${end}`)
}

test('the lag of a final begins at the end of its last word, and names what ended the final', (t) => {
  t.deepEqual(lagsOf([[2.75, 'Ill kept'], [3.75, 'cat'], [5, 'sat.']]), ['1.25 pause', '0.25 running', '1 audio'])
  t.deepEqual(lagsOf([[2.75, 'Ill hept'], [5, 'cat sat']]), ['1 audio'], 'a wrong last word is not measured')
  const later = [{ start: 4.5, end: 6.5 }]
  t.deepEqual(lagsOf([[3.75, 'Ill kept cat'], [6, 'sat']], SPOKEN, later), ['0.25 running', '2 pause'])
})

test('without word times, the lag begins at the end time of the final itself', (t) => {
  const finals = [[2.75, 'Ill kept', 1.75], [3.75, 'cat', 3.5], [5, 'sat', 4.25]] as const
  t.deepEqual(lagsOf(finals, []), ['1.25 pause', '0.25 running', '0.75 audio'])
})

/** Speech of constant loudness with a quiet second in the middle. */
const SAMPLES = Int16Array.from({ length: 3 * SAMPLE_RATE }, (_, i) =>
  Math.floor(i / SAMPLE_RATE) === 1 ? (i % 7) - 3 : 8000 * Math.sin(i / 5),
)

test('noise has the requested distance to the speech level and is equal in every run', (t) => {
  const noisy = withNoise(SAMPLES, 5, 'a')
  const noise = noisy.map((sample, i) => sample - (SAMPLES[i] ?? 0))
  const decibels = 10 * Math.log10(activePower(SAMPLES) / (noise.reduce((sum, x) => sum + x * x, 0) / noise.length))
  t.true(Math.abs(decibels - 5) < 0.1, String(decibels))
  t.true(Math.abs(activePower(SAMPLES) / (8000 ** 2 / 2) - 1) < 0.01, 'silence in between does not count')
  t.deepEqual(noisy, withNoise(SAMPLES, 5, 'a'))
  t.notDeepEqual(noisy, withNoise(SAMPLES, 5, 'b'))
  t.true(withNoise(SAMPLES, -30, 'a').every((sample) => Math.abs(sample) <= 32_767))
})

test("a pause with the recording's own noise is inserted between two sentences, and later words move", (t) => {
  const words = [[0, 1.5, 'One.'], [1.5, 2.4, 'Mr.'], [2.4, 3, 'three.']] as const
  const longer = withPauses({ samples: SAMPLES, words }, 2)
  t.is(longer.samples.length, SAMPLES.length + 2 * SAMPLE_RATE)
  const loud = [...longer.samples.keys()].filter((i) => Math.abs(longer.samples[i] ?? 0) > 3)
  const inside = loud.filter((i) => i >= SAMPLE_RATE && i < 4 * SAMPLE_RATE)
  t.deepEqual(inside, [])
  t.deepEqual(longer.samples.slice(-SAMPLE_RATE), SAMPLES.slice(-SAMPLE_RATE))
  const [first, second, third] = longer.words
  t.true((first?.[1] ?? 9) < 1.2 && (second?.[0] ?? 0) > 3 && (second?.[0] ?? 9) <= 3.5)
  t.deepEqual(third, [4.4, 5, 'three.'])
})
