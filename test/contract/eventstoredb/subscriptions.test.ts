import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { EventStoreDBClient } from '@eventstore/db-client'
import test from 'ava'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { BEGINNING } from '../../../application/ports/event-store.ts'
import { createCallTimeouts, LIMITS } from '../../../infrastructure/eventstoredb/call-timeouts.ts'
import { createSubscriptions } from '../../../infrastructure/eventstoredb/subscriptions.ts'
import { eventually } from '../../support/tools/eventually.ts'

/** A server that confirms a subscription when it is told to. */
const slowServer = () => {
  const asked: Array<() => void> = []
  const subscribeToAll = (): unknown => {
    const feed = Object.assign(new Readable({ objectMode: true, read: () => undefined }), {
      unsubscribe: async () => undefined,
    })
    asked.push(() => feed.emit('confirmation'))
    return feed
  }
  return { client: { subscribeToAll } as unknown as EventStoreDBClient, asked }
}

test('subscriptions that are begun together are asked for two at a time, and one that is given up leaves its place', async (t) => {
  const { client, asked } = slowServer()
  const over = new AbortController()
  const lost = new AbortController().signal
  const connected = { client: () => client, lost: () => lost }
  const subscribe = createSubscriptions({
    connected,
    timeouts: createCallTimeouts(LIMITS),
    head: () => TE.right(BEGINNING),
  })
  const first = new AbortController()
  const feeds = Array.from({ length: 5 }, (_, i) => {
    const signal = i === 0 ? first.signal : over.signal
    return subscribe(BEGINNING, [''], signal)[Symbol.asyncIterator]().next()
  })

  const areAsked = async (count: number): Promise<void> => {
    await eventually(() => assert.ok(asked.length >= count))
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    t.is(asked.length, count)
  }
  await areAsked(2)
  first.abort()
  await areAsked(3)
  asked[1]?.()
  await areAsked(4)
  asked[2]?.()
  await areAsked(5)

  over.abort()
  for (const feed of feeds) t.true((await feed).done)
})
