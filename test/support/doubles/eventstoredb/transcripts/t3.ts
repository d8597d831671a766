/** Recorded script t3: reads, metadata, truncation and deletion. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { NO_STREAM } from '@eventstore/db-client'
import { event, openSession, reading, short } from './session.ts'

const { client, show } = openSession()
const run = short()
const read = (label: string, stream: string, options?: Parameters<typeof client.readStream>[1]): Promise<void> =>
  show(label, reading(client, stream, options))
const newest = { direction: 'backwards', fromRevision: 'end', maxCount: 1 } as const
/** Appends events to a stream of any revision. */
const add = (stream: string, ...numbers: ReadonlyArray<number>) =>
  client.appendToStream(stream, numbers.map((n) => event(n)))

const s = `rd-${run}`
for (let n = 0; n < 10; n++) await client.appendToStream(s, [event(n, { metadata: { m: n } })])
await read('backwards maxCount 1', s, newest)
await read('backwards from 5n max 3', s, { direction: 'backwards', fromRevision: 5n, maxCount: 3 })
await read('backwards with fromRevision omitted', s, { direction: 'backwards', maxCount: 2 })
await read('forward from 100n (past end)', s, { fromRevision: 100n })
await read('maxCount 0', s, { maxCount: 0 })
await read('missing stream forward', `nope-${run}`)
await read('missing stream backwards', `nope-${run}`, newest)
await show('event fields', async () => {
  for await (const { event: found } of client.readStream(s, { maxCount: 1 }))
    return { ...found, createdType: found?.created.constructor.name }
  return null
})
await show('getStreamMetadata none', () => client.getStreamMetadata(s))
await show('setStreamMetadata maxCount 3', () => client.setStreamMetadata(s, { maxCount: 3, custom: 'a' }))
await show('getStreamMetadata', () => client.getStreamMetadata(s))
await read('read after maxCount 3', s)
await read('read from 0n forward after maxCount', s, { fromRevision: 0n })
await show('append after maxCount exact 9n', () => client.appendToStream(s, [event(10)], { expectedRevision: 9n }))
await read('read after', s)
await show('setStreamMetadata wrong expectedRevision NO_STREAM', () =>
  client.setStreamMetadata(s, { maxCount: 2 }, { expectedRevision: NO_STREAM }),
)
await show('setStreamMetadata maxAge 2s', () => client.setStreamMetadata(s, { maxAge: 60 }))
await read('read at once', s)
// The recording used an age of 2 s. A longer age lets a busy machine read in time.
await client.setStreamMetadata(s, { maxAge: 1 })
await delay(1100)
await read('read after 2.5 s', s)
await read('backwards maxCount 1 of wholly expired', s, newest)
await show('append exact 10n after expiry', () => client.appendToStream(s, [event(11)], { expectedRevision: 10n }))
await show('append NO_STREAM on expired stream', () =>
  client.appendToStream(s, [event(12)], { expectedRevision: NO_STREAM }),
)
await show('$all still holds the expired ones (before scavenge)?', async () => {
  let count = 0
  for await (const { event: found } of client.readAll()) if (found?.streamId === s) count++
  return count
})
const tb = `tb-${run}`
await add(tb, 0, 1, 2)
await show('setStreamMetadata truncateBefore 2', () => client.setStreamMetadata(tb, { truncateBefore: 2 }))
await read('read tb', tb)

const d = `del-${run}`
await add(d, 0, 1, 2)
await show('deleteStream wrong rev 1n', () => client.deleteStream(d, { expectedRevision: 1n }))
await show('deleteStream', () => client.deleteStream(d))
await read('read deleted', d)
await show('deleteStream again', () => client.deleteStream(d))
await show('append exact 2n after soft delete', () => client.appendToStream(d, [event(3)], { expectedRevision: 2n }))
await read('read after re-append', d)
const d2 = `del2-${run}`
await add(d2, 0, 1)
await client.deleteStream(d2)
await show('append NO_STREAM after soft delete', () =>
  client.appendToStream(d2, [event(2)], { expectedRevision: NO_STREAM }),
)
await read('read', d2)
await show('metadata after recreate', () => client.getStreamMetadata(d2))
const d3 = `del3-${run}`
const id = randomUUID()
await client.appendToStream(d3, [event(0, { id })], { expectedRevision: NO_STREAM })
await client.deleteStream(d3)
await show('soft-deleted, retry of the original append: same id, NO_STREAM', () =>
  client.appendToStream(d3, [event(0, { id })], { expectedRevision: NO_STREAM }),
)
await read('read', d3)
await show('deleteStream missing', () => client.deleteStream(`nope-${run}`))
await show('deleteStream missing with NO_STREAM', () =>
  client.deleteStream(`nope-${run}`, { expectedRevision: NO_STREAM }),
)
process.exit(0)
