import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { EventStoreDBClient } from '@eventstore/db-client'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING } from '../../../application/ports/event-store.ts'
import { createCallTimeouts, LIMITS } from '../../../infrastructure/eventstoredb/call-timeouts.ts'
import { createSubscriptions } from '../../../infrastructure/eventstoredb/subscriptions.ts'
import { eventually } from '../../support/tools/eventually.ts'

/** A server that confirms a subscription when the test calls the matching function in `confirmations`. */
const slowServer = () => {
  const confirmations: Array<() => void> = []
  const subscribeToAll = (): unknown => {
    const feed = Object.assign(new Readable({ objectMode: true, read: () => undefined }), {
      unsubscribe: async () => undefined,
    })
    confirmations.push(() => feed.emit('confirmation'))
    return feed
  }
  return { client: { subscribeToAll } as unknown as EventStoreDBClient, confirmations }
}

test('at most two subscriptions start at a time; when a start is cancelled, the next one begins', async (t) => {
  const { client, confirmations } = slowServer()
  const end = new AbortController()
  const lost = new AbortController().signal
  const connected = { client: () => client, lost: () => lost }
  const subscribe = createSubscriptions({
    connected,
    timeouts: createCallTimeouts(LIMITS),
    head: async () => E.right(BEGINNING),
  })
  const first = new AbortController()
  const feeds = Array.from({ length: 5 }, (_, i) => {
    const signal = i === 0 ? first.signal : end.signal
    return subscribe(BEGINNING, [''], signal)[Symbol.asyncIterator]().next()
  })

  const untilRequested = async (count: number): Promise<void> => {
    await eventually(() => assert.ok(confirmations.length >= count))
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    t.is(confirmations.length, count)
  }
  await untilRequested(2)
  first.abort()
  await untilRequested(3)
  confirmations[1]?.()
  await untilRequested(4)
  confirmations[2]?.()
  await untilRequested(5)

  end.abort()
  for (const feed of feeds) t.true((await feed).done)
})
