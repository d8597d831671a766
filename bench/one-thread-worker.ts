import { workerData } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import { readSpeechModel } from '../infrastructure/onnx/families.ts'
import { createVoiceActivity } from '../infrastructure/onnx/voice-activity.ts'
import { serveTasks } from '../infrastructure/onnx/process/worker-loop.ts'

/** The worker of one-thread-engine.ts: one thread with one set of ONNX sessions for speech detection and one model. */
const { folder } = workerData as { readonly folder: string }
const found = await readSpeechModel(folder)
if (E.isLeft(found)) throw new Error(found.left)
const model = await found.right.load()
const detectSpeech = createVoiceActivity()

serveTasks(async (task) => {
  switch (task.kind) {
    case 'load':
      return E.right({ windowSeconds: model.windowSeconds })
    case 'detect':
      return E.right(await detectSpeech(task.samples, task.state))
    case 'transcribe':
      return E.right(await model.transcribe(task.job))
    case 'translate':
      throw new Error('this worker cannot translate')
  }
})
