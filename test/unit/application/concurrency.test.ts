import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import {
  createFairSlots, createSlots, mapConcurrently, mapInSlices, traverseConcurrently,
} from '../../../application/concurrency.ts'
import { eventually } from '../../support/tools/eventually.ts'

/** Tasks that end when the test ends them. */
const createGates = () => {
  const open = new Map<number, (outcome: 'right' | 'left' | 'defect') => void>()
  const begun: Array<number> = []
  const task = async (item: number): Promise<E.Either<string, number>> => {
    begun.push(item)
    const outcome = await new Promise<'right' | 'left' | 'defect'>((resolve) => { open.set(item, resolve) })
    if (outcome === 'defect') throw new Error(`defect of ${item}`)
    return outcome === 'left' ? E.left(`failure of ${item}`) : E.right(item * 10)
  }
  const end = (item: number, outcome: 'right' | 'left' | 'defect' = 'right'): void => open.get(item)?.(outcome)
  const haveBegun = (...items: ReadonlyArray<number>) => eventually(() => assert.deepEqual(begun, items))
  return { task, end, begun, haveBegun }
}

test('a limited number of tasks runs at a time, in order, even after a failed task', async (t) => {
  const { task, end, haveBegun } = createGates()
  const inSlot = createSlots(2)
  const [first, second, third, fourth] = [1, 2, 3, 4].map((item) => inSlot(() => task(item)))
  await haveBegun(1, 2)
  end(2, 'defect')
  await t.throwsAsync(async () => second, { message: 'defect of 2' })
  await haveBegun(1, 2, 3)
  end(3)
  await haveBegun(1, 2, 3, 4)
  end(1)
  end(4)
  t.deepEqual(await Promise.all([first, third, fourth]), [E.right(10), E.right(30), E.right(40)])
  const fifth = inSlot(() => task(5))
  await haveBegun(1, 2, 3, 4, 5)
  end(5)
  t.deepEqual(await fifth, E.right(50), 'all slots are free again')
})

test('all items run although one of them fails; the failure is reported at the end', async (t) => {
  const { task, end, haveBegun } = createGates()
  let hasEnded = false
  const mapped = mapConcurrently(2, [1, 2, 3], task).finally(() => { hasEnded = true })
  mapped.catch(() => undefined)
  await haveBegun(1, 2)
  end(1, 'defect')
  await haveBegun(1, 2, 3)
  end(3)
  t.false(hasEnded)
  end(2)
  await t.throwsAsync(mapped, { message: 'defect of 1' })
})

test('after a failure no further task begins, and the results are in the order of the items', async (t) => {
  const failing = createGates()
  const failed = traverseConcurrently(2, [1, 2, 3, 4], failing.task)
  await failing.haveBegun(1, 2)
  failing.end(2, 'left')
  failing.end(1)
  let outcome: unknown
  void failed.then((answer) => { outcome = answer })
  await eventually(() => assert.deepEqual(outcome, E.left('failure of 2')))
  t.deepEqual(failing.begun, [1, 2])

  const { task, end, haveBegun } = createGates()
  const all = traverseConcurrently(2, [1, 2], task)
  await haveBegun(1, 2)
  end(2)
  end(1)
  t.deepEqual(await all, E.right([10, 20]))
})

test('many rows are mapped in slices of 100, and other work runs between two slices', async (t) => {
  const order: Array<number | string> = []
  setImmediate(() => {
    order.push('first')
    setImmediate(() => order.push('second'))
  })
  const mapping = mapInSlices(Array.from({ length: 250 }, (_, n) => n), (row) => order.push(row))
  t.is((await mapping).length, 250)
  t.deepEqual([order.indexOf('first'), order.indexOf('second')], [100, 201])
})

test('clients take turns, one task of each at a time, and too many waiting tasks are refused', async (t) => {
  const inTurn = createFairSlots(2, 2)
  const { begun, task, end } = createGates()
  const run = (client: string, item: number) => inTurn(client, () => task(item))
  const all = [run('a', 11), run('a', 12), run('a', 13), run('b', 21), run('c', 31)]
  t.is(await run('a', 14), null)
  for (const item of [11, 12, 21, 31, 13]) {
    await eventually(() => assert.ok(begun.includes(item)))
    end(item)
  }
  t.deepEqual(await Promise.all(all), [11, 12, 13, 21, 31].map((item) => E.right(item * 10)))
  t.deepEqual(begun, [11, 21, 12, 31, 13])
})
