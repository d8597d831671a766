import assert from 'node:assert/strict'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import type { Task } from '../../../infrastructure/onnx/process/messages.ts'
import { createWorkerPool } from '../../../infrastructure/onnx/process/worker-pool.ts'
import { eventually } from '../../support/tools/eventually.ts'

const WORKER = new URL('./held-worker.ts', import.meta.url)
const FOREVER = { further: 1e9, only: 1e9 }

const poolOf = (t: ExecutionContext, keep: { readonly further: number; readonly only: number }) => {
  // A pool's threads do not keep their process alive.
  const alive = setInterval(() => undefined, 60_000)
  t.teardown(() => clearInterval(alive))
  const pool = createWorkerPool({ script: WORKER, size: 2, keep, onDeath: (reason) => t.fail(reason) })
  const begun: Array<string> = []
  const hear = (model: string) => {
    const task: Task = { kind: 'transcribe', job: { model, language: 'en', samples: new Int16Array(1) }, folder: null }
    return pool.run(task, (loads) => begun.push(loads ? `${model} loads` : model))
  }
  /** Lets a held task of the model go. */
  const release = (model: string): void => {
    const channel = new BroadcastChannel(model)
    channel.postMessage('go')
    channel.close()
  }
  /** Until it has, for it may not listen yet. */
  const surely = async (model: string, held: Promise<unknown>): Promise<void> => {
    let isOver = false
    void held.then(() => (isOver = true))
    await eventually(() => {
      release(model)
      assert.ok(isOver)
    })
  }
  return { hear, begun, surely }
}

test('a task waits for the thread that has its model, and does not delay other tasks', async (t) => {
  const { hear, begun, surely } = poolOf(t, FOREVER)
  const first = await hear('a')
  t.notDeepEqual(await hear('b'), first, 'a thread without models comes before one that has some')
  const held = hear('held c')
  const waiting = hear('a')
  await hear('b')
  t.deepEqual(begun, ['a loads', 'b loads', 'held c loads', 'b'])
  await surely('held c', held)
  t.deepEqual(await waiting, first)
  t.deepEqual(begun.slice(4), ['a'])
})

test('a model has as many copies as tasks at a time', async (t) => {
  const { hear, begun, surely } = poolOf(t, FOREVER)
  for (const _ of [1, 2]) {
    const held = [hear('held a'), hear('held a')]
    await Promise.all(held.map((one) => surely('held a', one)))
  }
  t.deepEqual(begun, ['held a loads', 'held a loads', 'held a', 'held a'])
})

test('an additional unused copy is unloaded, the only copy later', async (t) => {
  const pair = async ({ hear, surely }: ReturnType<typeof poolOf>): Promise<void> => {
    await Promise.all([hear('held a'), hear('held a')].map((one) => surely('held a', one)))
  }
  const loadsOf = ({ begun }: ReturnType<typeof poolOf>): number =>
    begun.filter((name) => name.endsWith('loads')).length
  const [one, none] = [poolOf(t, { further: 1, only: 1e9 }), poolOf(t, { further: 1, only: 1 })]
  await Promise.all([pair(one), pair(none)])
  await eventually(async () => {
    await pair(one)
    assert.ok(loadsOf(one) >= 4)
  })
  await one.hear('a')
  await eventually(async () => {
    await none.hear('a')
    assert.ok(none.begun.filter((name) => name === 'a loads').length >= 3)
  })
  await one.hear('a')
  t.deepEqual(one.begun.slice(-2), ['a loads', 'a'])
})
