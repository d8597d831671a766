import { statSync } from 'node:fs'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { ModelLoadFailed } from '../../application/ports/engine.ts'
import { messageOf } from '../../domain/shared/message-of.ts'

/** A model in memory; `release` gives its native memory back. */
interface Loaded<R> {
  readonly identity: string | null
  readonly runner: R
}

/** The models of one worker thread, each loaded when it is first asked for. */
export interface LoadedModels<R> {
  /** Gives the memory of a model back; it is loaded anew when it is next asked for. */
  readonly unload: (model: string) => Promise<void>
  /** Left: why it cannot be loaded. A failure is not remembered: the folder may be complete the next time. */
  readonly load: (model: string, folder: string | null) => Promise<Either<ModelLoadFailed, R>>
  /**
   * Runs it. Where memory does not suffice its sessions are released, with what their arenas hold; where the device was lost those of all models are,
   * for they hold on to it. Then it runs once more.
   */
  readonly use: <A>(model: string, folder: string | null, run: (runner: R) => Promise<A>) => Promise<Either<ModelLoadFailed, A>>
}

/** What onnxruntime, the C++ library and CUDA's libraries say when an allocation fails. */
const isOutOfMemory = (error: unknown): boolean => /failed to allocate memory|bad[ _]alloc|out of memory|alloc_failed/i.test(messageOf(error))

/** What Dawn, which computes for WebGPU, and CUDA's libraries say when a driver was reset or its device went away. */
const isDeviceLost = (error: unknown): boolean => /device\]? (?:is |was )?lost|lost device|cudaError|CUDA (?:error|failure)/i.test(messageOf(error))

/** Another folder put in the place of one has another: one that was written to keeps it. Null for none. */
const identityOf = (folder: string | null): string | null => {
  const stats = folder === null ? undefined : statSync(folder, { throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.ino}:${stats.birthtimeMs}`
}

/** `open` reads a folder's model into memory; left, or what it throws: why it cannot. */
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
    // One whose folder is gone serves the lives that it has.
    if (known !== undefined && (identity === null || known.identity === identity)) return E.right(known.runner)
    const failed = (reason: string): Either<ModelLoadFailed, never> => E.left({ _tag: 'ModelLoadFailed', model, reason })
    if (folder === null) return failed('no such model is installed')
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
    const again = await load(model, folder)
    return E.isLeft(again) ? again : E.right(await run(again.right))
  }

  return { load, use, unload: forget }
}
