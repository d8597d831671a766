import assert from 'node:assert/strict'
import test, { type ExecutionContext } from 'ava'
import type { Task } from '../../../infrastructure/onnx/process/messages.ts'
import { createThreadPool } from '../../../infrastructure/onnx/process/thread-pool.ts'
import { eventually } from '../../support/tools/eventually.ts'

const WORKER = new URL('./held-worker.ts', import.meta.url)
const FOREVER = { further: 1e9, only: 1e9 }

/** `keep`: milliseconds until an unused copy is unloaded: `further` for an additional copy, `only` for the last one. */
const poolOf = (t: ExecutionContext, keep: { readonly further: number; readonly only: number }) => {
  // The threads of a pool do not keep the test process alive.
  const timer = setInterval(() => undefined, 60_000)
  t.teardown(() => clearInterval(timer))
  const pool = createThreadPool({ script: WORKER, size: () => 2, keep, onDeath: (reason) => t.fail(reason) })
  const begun: Array<string> = []
  const transcribe = (model: string) => {
    const task: Task = { kind: 'transcribe', job: { model, language: 'en', samples: new Int16Array(1) }, folder: null }
    return pool.run(task, (loads) => begun.push(loads ? `${model} loads` : model))
  }
  /** Lets a held task of the model continue. */
  const release = (model: string): void => {
    const channel = new BroadcastChannel(model)
    channel.postMessage('go')
    channel.close()
  }
  /** Releases the task repeatedly until it ends, because its thread may not listen yet. */
  const finish = async (model: string, held: Promise<unknown>): Promise<void> => {
    let hasEnded = false
    void held.then(() => (hasEnded = true))
    await eventually(() => {
      release(model)
      assert.ok(hasEnded)
    })
  }
  return { transcribe, begun, finish }
}

test('a task waits for the thread that has its model, and does not delay other tasks', async (t) => {
  const { transcribe, begun, finish } = poolOf(t, FOREVER)
  const first = await transcribe('a')
  t.notDeepEqual(await transcribe('b'), first, 'a thread without models is preferred')
  const held = transcribe('held c')
  const waiting = transcribe('a')
  await transcribe('b')
  t.deepEqual(begun, ['a loads', 'b loads', 'held c loads', 'b'])
  await finish('held c', held)
  t.deepEqual(await waiting, first)
  t.deepEqual(begun.slice(4), ['a'])
})

test('a model is loaded once for each task that runs at the same time', async (t) => {
  const { transcribe, begun, finish } = poolOf(t, FOREVER)
  for (const _ of [1, 2]) {
    const held = [transcribe('held a'), transcribe('held a')]
    await Promise.all(held.map((task) => finish('held a', task)))
  }
  t.deepEqual(begun, ['held a loads', 'held a loads', 'held a', 'held a'])
})

test('an unused additional copy is unloaded early, and the only copy later', async (t) => {
  const runTwo = async ({ transcribe, finish }: ReturnType<typeof poolOf>): Promise<void> => {
    await Promise.all([transcribe('held a'), transcribe('held a')].map((task) => finish('held a', task)))
  }
  const loadsOf = ({ begun }: ReturnType<typeof poolOf>): number =>
    begun.filter((name) => name.endsWith('loads')).length
  const [keepsOne, keepsNone] = [poolOf(t, { further: 1, only: 1e9 }), poolOf(t, { further: 1, only: 1 })]
  await Promise.all([runTwo(keepsOne), runTwo(keepsNone)])
  await eventually(async () => {
    await runTwo(keepsOne)
    assert.ok(loadsOf(keepsOne) >= 4)
  })
  await keepsOne.transcribe('a')
  await eventually(async () => {
    await keepsNone.transcribe('a')
    assert.ok(keepsNone.begun.filter((name) => name === 'a loads').length >= 3)
  })
  await keepsOne.transcribe('a')
  t.deepEqual(keepsOne.begun.slice(-2), ['a loads', 'a'])
})
