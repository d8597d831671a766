import assert from 'node:assert/strict'
import test from 'ava'
import { v7 } from 'uuid'
import { reconcileLives } from '../../../../application/lives/policies/reconcile-lives.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { silentLogger } from '../../../support/doubles/loggers.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { right } from '../../../support/tools/right.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'

test('a round reads only the sessions that changed, or whose owner changed, since they were checked', async (t) => {
  const memory = createMemoryEventStore()
  const read: Array<string> = []
  const store: EventStore = {
    ...memory,
    read: (stream, ...options) => {
      if (stream.startsWith('live-')) read.push(stream)
      return memory.read(stream, ...options)
    },
  }
  const side = await createWriteSide({ store, capacity: 1000 })
  const disabled = new Set<number>()
  const create = async (userId: number) => right(await side.createLive(callerOf(userId), requestOf())).id
  for (let userId = 1; userId <= 60; userId++) await create(userId)
  right(await side.lifecycle.attachSender(3)())
  let run: () => void = () => undefined
  const timers = {
    after: (_: number, task: () => void) => {
      run = task
      return () => undefined
    },
  }
  const isDisabled = async (userId: number) => disabled.has(userId)
  const reconciler = reconcileLives({ ...side.deps, logger: silentLogger, timers, isDisabled, every: 30_000 })
  const round = async (): Promise<void> => {
    const before = run
    run()
    await eventually(() => { if (run === before) throw new Error('the round has not ended') })
  }
  /** Runs rounds until exactly these sessions were read. The log is followed with a delay. */
  const readIn = async (expected: ReadonlyArray<number>): Promise<void> => {
    read.length = 0
    await eventually(async () => {
      await round()
      assert.deepEqual([...new Set(read)].toSorted(), expected.map((id) => `live-${id}`).toSorted())
    })
  }
  await readIn(Array.from({ length: 60 }, (_, index) => index + 1))
  await readIn([])

  right(await side.lifecycle.attachSender(7)())
  const created = await create(61)
  await readIn([7, created])
  await readIn([])

  disabled.add(9)
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'tool', recordedAt: side.environment.now() }
  const data = { userId: 9, at: side.environment.now() }
  right(await memory.append('user-9', 'any', [{ id: v7(), type: 'UserDisabled', data, metadata }]))
  await readIn([9])
  t.is(right(await memory.read('live-9')).at(-1)?.type, 'LiveFinished')
  await readIn([])
  await reconciler.stop()
})
