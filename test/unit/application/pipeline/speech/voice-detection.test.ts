import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { SpeechEngine } from '../../../../../application/ports/engine.ts'
import { createCancellation } from '../../../../../application/pipeline/cancellation.ts'
import { createVoiceDetection } from '../../../../../application/pipeline/speech/voice-detection.ts'
import { eventually } from '../../../../support/tools/eventually.ts'
import { createManualTimers } from '../../../../support/doubles/manual-timers.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const frames = new Int16Array(512)

test('a session keeps only the last answer of its detector', async (t) => {
  const answers: Array<WeakRef<object>> = []
  const detectSpeech: SpeechEngine['detectSpeech'] = async () => {
    const answer = { probabilities: new Float32Array(1), state: new Float32Array(320) }
    answers.push(new WeakRef(answer.state))
    return E.right(answer)
  }
  const judge = createVoiceDetection({ detectSpeech }, createManualTimers(), createCancellation())
  for (let call = 0; call < 100; call += 1) await judge(frames)
  await eventually(() => {
    collect()
    const kept = answers.filter((answer) => answer.deref() !== undefined).length
    assert.ok(kept <= 2, `${kept} of ${answers.length} answers are kept`)
  })
  t.not(await judge(frames), null)
})

test('a cancelled detection and all later ones answer null immediately, without the engine', async (t) => {
  let calls = 0
  const detectSpeech: SpeechEngine['detectSpeech'] = () => {
    calls += 1
    return new Promise(() => undefined)
  }
  const cancellation = createCancellation()
  const judge = createVoiceDetection({ detectSpeech }, createManualTimers(), cancellation)
  const judged = judge(frames)
  cancellation.cancel()
  t.is(await judged, null)
  t.is(await judge(frames), null)
  t.is(calls, 1)
})
