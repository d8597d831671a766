import * as E from 'fp-ts/lib/Either.js'
import { createLoadedModels } from './loaded-models.ts'
import type { Outcome, Task } from './messages.ts'
import { readModelDirectory } from './model-directory.ts'
import { loadWhisper } from './whisper-runner.ts'
import { serveTasks } from './worker-loop.ts'

/** A worker thread of the engine process: it has its own set of models. */
const models = createLoadedModels(async (folder) => {
  const directory = await readModelDirectory(folder)
  return E.isLeft(directory) ? E.left(directory.left.reason) : E.right(await loadWhisper(directory.right))
})

serveTasks(async (task: Task): Promise<Outcome> => {
  switch (task.kind) {
    case 'load': {
      const runner = await models.load(task.model, task.folder)
      return E.isLeft(runner) ? runner : E.right({ windowSeconds: runner.right.windowSeconds })
    }
    case 'transcribe': {
      const { model, samples, language } = task.job
      return models.use(model, task.folder, (runner) => runner.transcribe(samples, language))
    }
    case 'detect':
    case 'translate':
      throw new Error('this worker only transcribes')
  }
})
