import { workerData } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { ModelLoadFailed } from '../../application/ports/engine.ts'
import { reasonOf } from './messages.ts'
import type { Outcome, Task } from './messages.ts'
import { readModelDirectory } from './model-directory.ts'
import { loadWhisper } from './whisper-runner.ts'
import type { WhisperRunner } from './whisper-runner.ts'
import { serveTasks } from './worker-loop.ts'

/** A worker thread of the engine process: it has its own set of models, each loaded when it is first asked for. */
const { models } = workerData as { readonly models: ReadonlyMap<string, string> }
const loaded = new Map<string, WhisperRunner>()

/** A failure is not remembered: the folder may be complete the next time. */
const load = async (model: string): Promise<Either<ModelLoadFailed, WhisperRunner>> => {
  const known = loaded.get(model)
  if (known !== undefined) return E.right(known)
  const failed = (reason: string): Either<ModelLoadFailed, never> => E.left({ _tag: 'ModelLoadFailed', model, reason })
  const folder = models.get(model)
  if (folder === undefined) return failed('no such model is installed')
  const directory = await readModelDirectory(folder)
  if (E.isLeft(directory)) return failed(directory.left.reason)
  const runner = await loadWhisper(directory.right).then(E.right, (error: unknown) => failed(reasonOf(error)))
  if (E.isRight(runner)) loaded.set(model, runner.right)
  return runner
}

serveTasks(async (task: Task): Promise<Outcome> => {
  switch (task.kind) {
    case 'load': {
      const runner = await load(task.model)
      return E.isLeft(runner) ? runner : E.right({ windowSeconds: runner.right.windowSeconds })
    }
    case 'transcribe': {
      const runner = await load(task.job.model)
      if (E.isLeft(runner)) return runner
      return E.right(await runner.right.transcribe(task.job.samples, task.job.language))
    }
    case 'detect':
    case 'translate':
      throw new Error('this worker only transcribes')
  }
})
