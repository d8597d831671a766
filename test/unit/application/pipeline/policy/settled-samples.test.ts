import test from 'ava'
import { settledBy } from '../../../../../application/pipeline/policy/policy.ts'
import { INITIAL_SEGMENTER } from '../../../../../application/pipeline/speech/speech-segmenter.ts'
import { collectEvents, pipelineOf } from '../../../../support/pipeline/pipeline-driver.ts'
import { immediateTimers } from '../../../../support/doubles/immediate-timers.ts'
import { scriptedAudio, type ScriptedWord } from '../../../../support/doubles/scripted/script.ts'
import { scriptedEngine } from '../../../../support/doubles/scripted/engine.ts'
import { chanceOf } from '../../../../support/tools/seeded.ts'

// Audio is settled when no later pass needs it, because all words in it are final.

const RATE = 16_000
/** Samples by which models without word times may misjudge the end of a word. */
const END_TOLERANCE_SAMPLES = 1.5 * RATE

test('during speech, audio is settled up to the buffer; with an open word, up to the end of the finals', (t) => {
  const speech = { ...INITIAL_SEGMENTER, clock: 100_000, phrases: [{ regions: [], dips: [], closedAt: null }] }
  t.is(settledBy(speech, { finalEnd: 10, bufferStart: 20, isOpen: false }), 20)
  t.is(settledBy(speech, { finalEnd: 10, bufferStart: 20, isOpen: true }), 10)
  t.is(settledBy({ ...speech, phrases: [] }, { finalEnd: 10, bufferStart: 20, isOpen: false }), 84_000)
})

test('all words in settled audio are final, and after speech all but the last moments are settled', async (t) => {
  const { random } = chanceOf(t)
  const choose = random('words')
  for (const hasWordTimes of [true, false]) {
    const words: ReadonlyArray<ScriptedWord> = Array.from({ length: 60 }, (_, i) => ({
      text: `w${i + 1}`, pause: choose() < 0.2 ? 1.5 : 0.1, seconds: 0.2 + choose() * 0.3,
    }))
    const ends: Array<number> = []
    for (const { pause, seconds } of words)
      ends.push((ends.at(-1) ?? 0) + Math.round(pause * RATE) + Math.round(seconds * RATE))
    const audio = scriptedAudio(words, 4)
    const { events, finals } = collectEvents()
    const timers = { timers: [], after: immediateTimers.after }
    const pipeline = pipelineOf(scriptedEngine({ words, hasWordTimes }), events, {}, timers)
    await pipeline.start()
    let [before, moved] = [0, 0]
    for (let at = 0; at < audio.length; at += 1600) {
      pipeline.push(audio.slice(at, at + 1600))
      for (let n = 0; n < 6; n += 1) await new Promise((resolve) => void setImmediate(resolve))
      const settled = pipeline.settledSamples()
      const finalWords = finals.map(({ text }) => text).join(' ').split(' ').length
      const spoken = ends.filter((end) => end <= settled - (hasWordTimes ? 0 : END_TOLERANCE_SAMPLES)).length
      t.true(settled >= before && settled <= at + 1600)
      t.true(spoken === 0 || finalWords >= spoken, `${spoken} words are settled, ${finalWords} are final at ${at}`)
      moved += settled > before ? 1 : 0
      before = settled
    }
    t.true(moved > 10)
    t.true(
      before >= audio.length - 2 * RATE,
      `${audio.length - before} samples are open after four seconds of silence`,
    )
  }
})
