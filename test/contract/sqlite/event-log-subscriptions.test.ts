import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import { BEGINNING, type EventStore, type Position } from '../../../application/ports/event-store.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { caughtUp, delivered, newEvent, newEvents, right, take } from '../event-store-support.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const withLog = (
  title: string,
  body: (t: ExecutionContext, store: EventStore, file: string) => Promise<void>,
): void => {
  test(title, async (t) => {
    const { path, remove } = await temporaryDirectory()
    const file = join(path, 'log.db')
    const store = await openSqliteEventStore({ file })
    try {
      await body(t, store, file)
    } finally {
      await store.close()
      await remove()
    }
  })
}

/** Changes a stored log without the store. */
const tamper = (file: string, sql: string): void => {
  const database = new DatabaseSync(file, { timeout: 5000 })
  database.exec(sql)
  database.close()
}

const neverAborted = new AbortController().signal

withLog('a subscription delivers no truncated or deleted event', async (t, store) => {
  await right(store.append('a', 'no-stream', newEvents(3)))
  await right(store.append('b', 'no-stream', newEvents(3, 3)))
  await right(store.setMetadata('a', { maxCount: 1 }))
  await right(store.deleteStream('b'))
  await right(store.append('b', 'no-stream', [newEvent(6)]))
  t.deepEqual(delivered(await take(store.subscribe(BEGINNING, ['a', 'b'], neverAborted), caughtUp)), [2, 6])
})

withLog('a subscription sends caught-up each time it reaches the end', async (t, store) => {
  const messages = store.subscribe(BEGINNING, ['a'], neverAborted)[Symbol.asyncIterator]()
  const kinds: unknown[] = []
  const next = async (): Promise<void> => {
    const { value } = await messages.next()
    kinds.push(value?.kind)
  }
  await next()
  await right(store.append('a', 'no-stream', newEvents(1)))
  await next()
  await next()
  await right(store.append('b', 'no-stream', newEvents(1)))
  await next()
  await next()
  t.deepEqual(kinds, ['caught-up', 'event', 'caught-up', 'checkpoint', 'caught-up'])
  await messages.return?.()
})

withLog('a subscription from beyond the end of the log is refused', async (t, store) => {
  await right(store.append('a', 'no-stream', newEvents(2)))
  const beyond = '00000000000000000003' as Position
  const error = await t.throwsAsync(take(store.subscribe(beyond, ['a'], neverAborted), caughtUp))
  t.like(error?.cause, { _tag: 'OlderLog' })
})

withLog('a subscription ends with the store', async (t, store) => {
  const messages = store.subscribe(BEGINNING, ['a'], neverAborted)[Symbol.asyncIterator]()
  await messages.next()
  const waiting = messages.next()
  await store.close()
  const error = await t.throwsAsync(waiting)
  t.like(error?.cause, { _tag: 'StoreUnavailable' })
  t.like(await store.append('a', 'any', [newEvent()]), { left: { _tag: 'StoreUnavailable' } })
  t.like(await store.read('a'), { left: { _tag: 'StoreUnavailable' } })
  t.like(await store.head(), { left: { _tag: 'StoreUnavailable' } })
})

withLog('a long log delivers every event once, in order, up to a damaged row', async (t, store, file) => {
  const COUNT = 12_000
  for (const stream of ['a', 'b']) await right(store.append(stream, 'no-stream', newEvents(COUNT / 2)))
  const whole = await take(store.subscribe(BEGINNING, [''], neverAborted), caughtUp)
  t.deepEqual(delivered(whole), [...Array(COUNT).keys()].map((n) => n % (COUNT / 2)))
  t.deepEqual(delivered(await take(store.subscribe(BEGINNING, ['b', 'c'], neverAborted), caughtUp)), [
    ...Array(COUNT / 2).keys(),
  ])
  tamper(file, `UPDATE events SET type = 'Other' WHERE pos = 700`)
  const seen: Array<number> = []
  const error = await t.throwsAsync(async () => {
    for await (const message of store.subscribe(BEGINNING, ['a'], neverAborted))
      if (message.kind === 'event') seen.push(message.event.revision)
  })
  t.like(error?.cause, { _tag: 'LogCorrupted', row: { position: '00000000000000000700', stream: 'a' } })
  t.deepEqual(seen, [...Array(699).keys()])
  const ended = store.subscribe(BEGINNING, ['b'], neverAborted)[Symbol.asyncIterator]()
  await ended.next()
  await store.close()
  await t.throwsAsync(
    async () => {
      while ((await ended.next()).done !== true);
    },
    { message: /the store is closed/ },
  )
})
