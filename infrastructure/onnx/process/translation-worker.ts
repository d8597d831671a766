import * as E from 'fp-ts/lib/Either.js'
import { createLoadedModels } from '../loaded-models.ts'
import { readMarianDirectory } from '../marian-model.ts'
import { loadMarian } from '../marian-runner.ts'
import type { Outcome, Task } from './messages.ts'
import { serveTasks } from './worker-loop.ts'

/** A worker thread of the translation process, with its own copies of models. */
const models = createLoadedModels(async (folder) => {
  const directory = await readMarianDirectory(folder)
  return E.isLeft(directory) ? directory : E.right(await loadMarian(directory.right))
})

serveTasks(async (task: Task): Promise<Outcome> => {
  switch (task.kind) {
    case 'load': {
      const runner = await models.load(task.model, task.folder)
      return E.isLeft(runner) ? runner : E.right(null)
    }
    case 'translate': {
      const { model, text, from, to } = task.job
      return models.use(model, task.folder, async (runner) => (await runner.translate(text, from, to)).text)
    }
    case 'detect':
    case 'transcribe':
      throw new Error('this worker only translates')
  }
}, { unload: models.unload })
