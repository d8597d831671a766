import { statSync } from 'node:fs'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { ModelLoadFailed } from '../../application/ports/engine.ts'
import { messageOf } from '../../domain/shared/message-of.ts'

interface Loaded<R> {
  readonly identity: string | null
  readonly runner: R
}

/** The models of one worker thread. A model is loaded at its first use. */
export interface LoadedModels<R> {
  /** Releases the memory of a model. Its next use loads it again. */
  readonly unload: (model: string) => Promise<void>
  /**
   * Loads a model. Left: why it cannot be loaded. The next call tries again, because the folder may be complete then.
   */
  readonly load: (model: string, folder: string | null) => Promise<Either<ModelLoadFailed, R>>
  /**
   * Runs a model. Two kinds of errors cause one retry. When memory ran out, the sessions of this model and their memory
   * are released before the retry. When the device was lost, the sessions of all models are released, because each
   * session holds the lost device.
   */
  readonly use: <A>(
    model: string,
    folder: string | null,
    run: (runner: R) => Promise<A>,
  ) => Promise<Either<ModelLoadFailed, A>>
}

/** Matches the messages of onnxruntime, the C++ library and CUDA's libraries when an allocation fails. */
const isOutOfMemory = (error: unknown): boolean =>
  /failed to allocate memory|bad[ _]alloc|out of memory|alloc_failed/i.test(messageOf(error))

/** Matches the messages of WebGPU's implementation (Dawn) and of CUDA's libraries when a device is lost. */
const isDeviceLost = (error: unknown): boolean =>
  /device\]? (?:is |was )?lost|lost device|cudaError|CUDA (?:error|failure)/i.test(messageOf(error))

/**
 * Identifies the folder itself (inode and birth time), so a replaced folder counts as a new model. Null when missing.
 */
const identityOf = (folder: string | null): string | null => {
  const stats = folder === null ? undefined : statSync(folder, { throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.ino}:${stats.birthtimeMs}`
}

/**
 * Creates the models of a worker thread.
 *
 * @param open loads the model of a folder into memory. Left, or a thrown error: the reason of a failure.
 */
export const createLoadedModels = <R extends { readonly release: () => Promise<void> }>(
  open: (folder: string) => Promise<Either<string, R>>,
): LoadedModels<R> => {
  const loaded = new Map<string, Loaded<R>>()

  const forget = async (model: string): Promise<void> => {
    const known = loaded.get(model)
    loaded.delete(model)
    await known?.runner.release()
  }

  const load: LoadedModels<R>['load'] = async (model, folder) => {
    const identity = identityOf(folder)
    const known = loaded.get(model)
    // A model whose folder was deleted still serves its running sessions.
    if (known !== undefined && (identity === null || known.identity === identity)) return E.right(known.runner)
    const failed = (reason: string): Either<ModelLoadFailed, never> =>
      E.left({ _tag: 'ModelLoadFailed', model, reason })
    if (folder === null) return failed('the model is not installed')
    await forget(model)
    const runner = await open(folder).catch((error: unknown) => E.left(messageOf(error)))
    if (E.isLeft(runner)) return failed(runner.left)
    loaded.set(model, { identity, runner: runner.right })
    return runner
  }

  const use: LoadedModels<R>['use'] = async (model, folder, run) => {
    const runner = await load(model, folder)
    if (E.isLeft(runner)) return runner
    try {
      return E.right(await run(runner.right))
    } catch (error) {
      if (!isOutOfMemory(error) && !isDeviceLost(error)) throw error
      for (const stale of isDeviceLost(error) ? [...loaded.keys()] : [model]) await forget(stale)
    }
    const reloaded = await load(model, folder)
    return E.isLeft(reloaded) ? reloaded : E.right(await run(reloaded.right))
  }

  return { load, use, unload: forget }
}
