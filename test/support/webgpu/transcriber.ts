import { fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import type { Provider } from '../../../infrastructure/onnx/providers/execution-provider.ts'
import { CHILD_ENVIRONMENT } from '../tools/child-environment.ts'
import { TESTED_GPU } from './tested-gpu.ts'

/** Settings of a transcribing process. */
export interface TranscriberSettings {
  readonly folder: string
  readonly provider: Provider
  /** File of a merged decoder that replaces the folder's decoder. */
  readonly merged?: string
  /** False: tensors on the device are never released. */
  readonly disposes?: boolean
  /** Folder for onnxruntime's profile of the first request. */
  readonly profiles?: string
}

/** Clips to transcribe in one run. */
export interface TranscribeRequest {
  readonly clips: ReadonlyArray<Int16Array>
  /** Whether the clips are cancelled right after the start. */
  readonly isCancelled: boolean
}

export interface Transcribed {
  readonly tokens: ReadonlyArray<ReadonlyArray<number>>
  /** Tensors on the device since the process began. */
  readonly tensors: { readonly created: number, readonly disposed: number }
  /** Resident memory in bytes after garbage collection. */
  readonly rss: number
}

/** glibc returns freed memory to the system at once, so the resident memory is the memory in use. */
const NO_MEMORY_IN_RESERVE = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '16384',
  MALLOC_MMAP_MAX_: '1000000',
  MALLOC_TRIM_THRESHOLD_: '65536',
}

/**
 * Working folder with SwiftShader's settings. With one thread, its memory does not depend on the load of the machine.
 * With several threads, it keeps 64 more stacks (8 MB) whenever one thread gets a larger part of a product than before.
 */
const SWIFTSHADER_SETTINGS = fileURLToPath(new URL('.', import.meta.url))

/** Starts a separate process with a model on a provider. */
export const startTranscriber = async (t: ExecutionContext, settings: TranscriberSettings) => {
  const { folder, merged } = settings
  const absolute = { ...settings, folder: resolve(folder), ...(merged !== undefined && { merged: resolve(merged) }) }
  const child = fork(fileURLToPath(new URL('./transcriber-process.ts', import.meta.url)), [JSON.stringify(absolute)], {
    cwd: SWIFTSHADER_SETTINGS,
    execArgv: ['--expose-gc'],
    env: { ...CHILD_ENVIRONMENT, ...TESTED_GPU.environment, ...NO_MEMORY_IN_RESERVE, ORT_DISABLE_TELEMETRY: '1' },
    serialization: 'advanced',
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit').then(([code, signal]) => Promise.reject(new Error(`it ended: ${code ?? signal}`)))
  ended.catch(() => undefined)
  const next = async <A>(): Promise<A> => {
    const [answer] = (await Promise.race([once(child, 'message'), ended])) as [A]
    return answer
  }
  await next()
  const request = (clips: ReadonlyArray<Int16Array>, isCancelled: boolean): Promise<Transcribed> => {
    child.send({ clips, isCancelled } satisfies TranscribeRequest)
    return next<Transcribed>()
  }
  return {
    transcribe: (...clips: ReadonlyArray<Int16Array>): Promise<Transcribed> => request(clips, false),
    cancel: (...clips: ReadonlyArray<Int16Array>): Promise<Transcribed> => request(clips, true),
  }
}
