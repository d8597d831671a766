import { workerData } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import { readSpeechModel } from '../infrastructure/onnx/families.ts'
import { createVoiceActivity } from '../infrastructure/onnx/voice-activity.ts'
import { serveTasks } from '../infrastructure/onnx/process/worker-loop.ts'

/** One thread with one set of sessions for speech detection and for the one model: the engine of a server with a global lock. */
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
      throw new Error('this worker only hears')
  }
})
