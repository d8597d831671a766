import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import type { Provider } from '../../../infrastructure/onnx/providers/execution-provider.ts'
import { CHILD_ENVIRONMENT } from '../tools/child-environment.ts'
import { SWIFTSHADER_ENVIRONMENT } from './swiftshader.ts'

/** What a process hears with. */
export interface Hearer {
  readonly folder: string
  readonly provider: Provider
  /** The file of a decoder to take instead of the folder's. */
  readonly merged?: string
  /** False: nothing that lies on the device is ever given back. */
  readonly disposes?: boolean
  /** A folder for what onnxruntime tells of each node of the first order. */
  readonly profiles?: string
}

/** Clips to be heard in one run. */
export interface Order {
  readonly clips: ReadonlyArray<Int16Array>
  /** Nobody waits for them any more as soon as they have begun. */
  readonly isCalledOff: boolean
}

export interface Heard {
  readonly tokens: ReadonlyArray<ReadonlyArray<number>>
  /** Those on the device, since the process began. */
  readonly tensors: { readonly made: number, readonly disposed: number }
  /** Bytes of memory that the process holds, its garbage collected. */
  readonly rss: number
}

/** A model on a provider, in a process of its own. */
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
