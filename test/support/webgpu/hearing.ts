import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import type { Provider } from '../../../infrastructure/onnx/providers/execution-provider.ts'
import { CHILD_ENVIRONMENT } from '../tools/child-environment.ts'
import { SWIFTSHADER_ENVIRONMENT } from './swiftshader.ts'

/** Settings of a transcribing process. */
export interface Hearer {
  readonly folder: string
  readonly provider: Provider
  /** File of a merged decoder that replaces the folder's decoder. */
  readonly merged?: string
  /** False: tensors on the device are never released. */
  readonly disposes?: boolean
  /** Folder for onnxruntime's profile of the first order. */
  readonly profiles?: string
}

/** Clips to transcribe in one run. */
export interface Order {
  readonly clips: ReadonlyArray<Int16Array>
  /** The clips are cancelled right after their begin. */
  readonly isCalledOff: boolean
}

export interface Heard {
  readonly tokens: ReadonlyArray<ReadonlyArray<number>>
  /** Tensors on the device since the process began. */
  readonly tensors: { readonly made: number, readonly disposed: number }
  /** Resident memory in bytes after garbage collection. */
  readonly rss: number
}

/** Starts a separate process with a model on a provider. */
export const startHearing = async (t: ExecutionContext, hearer: Hearer) => {
  const child = fork(fileURLToPath(new URL('./hearing-process.ts', import.meta.url)), [JSON.stringify(hearer)], {
    execArgv: ['--expose-gc'],
    env: { ...CHILD_ENVIRONMENT, ...SWIFTSHADER_ENVIRONMENT, ORT_DISABLE_TELEMETRY: '1' },
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
  const order = (clips: ReadonlyArray<Int16Array>, isCalledOff: boolean): Promise<Heard> => {
    child.send({ clips, isCalledOff } satisfies Order)
    return next<Heard>()
  }
  return {
    hear: (...clips: ReadonlyArray<Int16Array>): Promise<Heard> => order(clips, false),
    callOff: (...clips: ReadonlyArray<Int16Array>): Promise<Heard> => order(clips, true),
  }
}
