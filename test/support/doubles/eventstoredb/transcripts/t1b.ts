/**
 * Recorded script t1b: appends that confuse the client, each with its own client. The second argument selects the
 * case.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { jsonEvent, NO_STREAM } from '@eventstore/db-client'
import { event, openSession, orNothing, reading } from './session.ts'

const { client, show, print } = openSession()
process.on('unhandledRejection', (error) => print('unhandledRejection', (error as Error).message))
const stream = `q-${randomUUID()}`
const options = { expectedRevision: NO_STREAM } as const

const cases: Readonly<Record<string, () => Promise<void>>> = {
  47: () => show('bad uuid', () => client.appendToStream(stream, [event(1, { id: 'not-a-uuid' })])),
  48: () => show('empty name', () => client.appendToStream('', [event(1)])),
  49: async () => void show('bigint', () => client.appendToStream(stream, [jsonEvent({ type: 'X', data: { a: 1n } })])),
  50: async () => {
    await show('empty array NO_STREAM on missing', () => client.appendToStream(stream, [], options))
    await show('read it', async () => (await reading(client, stream)()).length)
    await show('then NO_STREAM 1 event', () => client.appendToStream(stream, [event(1)], options))
    await show('then exact 0n', () => client.appendToStream(stream, [event(1)], { expectedRevision: 0n }))
  },
  51: () => show('after 13 s idle', () => client.appendToStream(stream, [event(1)])),
}
const name = process.argv[3] ?? ''
print('==', name)
await cases[name]?.()
// The recording waited for 13 s. Case 47 must wait for the second answer of the server, which arrives after 2 s.
await delay(name === '47' ? 2500 : 100)
await show('a normal append on the same client after', () =>
  orNothing(client.appendToStream(`q-${randomUUID()}`, [event(1)]), 3000, 'NO ANSWER 3s'),
)
await client.dispose()
await delay(100)
process.exit(0)
