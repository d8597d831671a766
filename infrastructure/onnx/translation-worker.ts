import { workerData } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { ModelLoadFailed } from '../../application/ports/engine.ts'
import { readMarianDirectory } from './marian-model.ts'
import { loadMarian } from './marian-runner.ts'
import type { MarianRunner } from './marian-runner.ts'
import { reasonOf } from './messages.ts'
import type { Outcome, Task } from './messages.ts'
import { serveTasks } from './worker-loop.ts'

/** A worker thread of the translation process: it has its own set of models, each loaded when it is first asked for. */
const { models } = workerData as { readonly models: ReadonlyMap<string, string> }
const loaded = new Map<string, MarianRunner>()

/** A failure is not remembered: the folder may be complete the next time. */
const load = async (model: string): Promise<Either<ModelLoadFailed, MarianRunner>> => {
  const known = loaded.get(model)
  if (known !== undefined) return E.right(known)
  const failed = (reason: string): Either<ModelLoadFailed, never> => E.left({ _tag: 'ModelLoadFailed', model, reason })
  const folder = models.get(model)
  if (folder === undefined) return failed('no such translator is installed')
  const directory = await readMarianDirectory(folder)
  if (E.isLeft(directory)) return failed(directory.left)
  const runner = await loadMarian(directory.right).then(E.right, (error: unknown) => failed(reasonOf(error)))
  if (E.isRight(runner)) loaded.set(model, runner.right)
  return runner
}

serveTasks(async (task: Task): Promise<Outcome> => {
  switch (task.kind) {
    case 'load': {
      const runner = await load(task.model)
      return E.isLeft(runner) ? runner : E.right(null)
    }
    case 'translate': {
      const { model, text, from, to } = task.job
      const runner = await load(model)
      return E.isLeft(runner) ? runner : E.right((await runner.right.translate(text, from, to)).text)
    }
    case 'detect':
    case 'transcribe':
      throw new Error('this worker only translates')
  }
})
