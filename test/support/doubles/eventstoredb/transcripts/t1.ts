/** Recorded script t1: appends and their retries. */
import { randomUUID } from 'node:crypto'
import {
  ANY,
  jsonEvent,
  NO_STREAM,
  STREAM_EXISTS,
  type AppendExpectedRevision,
  type AppendToStreamOptions,
} from '@eventstore/db-client'
import { event, openSession, orNothing } from './session.ts'

const { client, connect, show, print } = openSession()
const stream = `acct-${randomUUID()}`
const ids: ReadonlyArray<string> = Array.from({ length: 12 }, () => randomUUID())
const eventWithId = (index: number, n: unknown = index) => event(n, ids[index] === undefined ? {} : { id: ids[index] })

/** Appends events to the stream. The numbers select their ids. */
const append = (
  label: string,
  expectedRevision: AppendExpectedRevision,
  ...indices: ReadonlyArray<number>
): Promise<void> =>
  show(label, () =>
    client.appendToStream(stream, indices.map((index) => eventWithId(index)), { expectedRevision }),
  )

const appendTo = (
  label: string,
  to: string,
  events: Parameters<typeof client.appendToStream>[1],
  options: AppendToStreamOptions = {},
): Promise<void> => show(label, () => client.appendToStream(to, events, options))

const lastRevision = async (): Promise<bigint> => {
  for await (const { event: last } of client.readStream(stream, {
    direction: 'backwards',
    fromRevision: 'end',
    maxCount: 1,
  }))
    return last?.revision ?? 0n
  return 0n
}

await append('1 NO_STREAM first [0,1,2]', NO_STREAM, 0, 1, 2)
await append('2 same ids, NO_STREAM again (full retry)', NO_STREAM, 0, 1, 2)
await append('3 new id, NO_STREAM on existing', NO_STREAM, 3)
await append('4 exact rev 2n [3,4]', 2n, 3, 4)
await append('5 retry exact rev 2n same ids [3,4]', 2n, 3, 4)
await append('6 wrong: rev 2n new id', 2n, 5)
await append('7 wrong: rev 99n (ahead)', 99n, 5)
await append('8 same ids [3,4] with ANY', ANY, 3, 4)
await append('9 same ids [0,1,2] with ANY', ANY, 0, 1, 2)
await append('10 STREAM_EXISTS new id [5]', STREAM_EXISTS, 5)
await append('11 STREAM_EXISTS same id [5] again', STREAM_EXISTS, 5)
await appendTo('12 STREAM_EXISTS on missing stream', `missing-${randomUUID()}`, [event(1)], {
  expectedRevision: STREAM_EXISTS,
})
await append('13 prefix-different: rev 2n [3,4,6] (written [3,4], longer batch; 5 follows in the stream)', 2n, 3, 4, 6)
await append('14 prefix: rev 2n [3] only (shorter batch)', 2n, 3)
await append('15 suffix: rev 2n [4] only', 2n, 4)
await append('16 reordered: rev 2n [4,3]', 2n, 4, 3)
await append('17 spanning two writes: rev 2n [3,4,5]', 2n, 3, 4, 5)
await append('18 ANY [4,7] (first id known, second new)', ANY, 4, 7)
await append('19 ANY [7,4] (first id new, second known)', ANY, 7, 4)
await appendTo('20 same id, other data, rev 2n', stream, [eventWithId(3, 'other'), eventWithId(4)], {
  expectedRevision: 2n,
})
await appendTo('21 id duplicated inside one batch ANY', `dup-${randomUUID()}`, [eventWithId(8, 1), eventWithId(8, 2)], {
  expectedRevision: ANY,
})
await appendTo('22 same id in another stream, NO_STREAM', `other-${randomUUID()}`, [eventWithId(3)], {
  expectedRevision: NO_STREAM,
})
await show('23 rev 6 last + [9,10] then longer retry', async () => [await lastRevision()])
const last = await lastRevision()
await append('24 exact last, [9]', last, 9)
await append('25 exact same rev, [9,10] : known prefix at the END of stream + new', last, 9, 10)
await append('26 empty array ANY', ANY)
await appendTo('27 empty array NO_STREAM on missing', `empty-${randomUUID()}`, [], { expectedRevision: NO_STREAM })
await appendTo('28 event of 1.5 MB', `big-${randomUUID()}`, [event(1, { pad: 1.5e6 })])
await appendTo(
  '29 batch of 30 x 100kB = 3MB > maxAppendSize 1MiB',
  `big-${randomUUID()}`,
  Array.from({ length: 30 }, (_, n) => event(n, { pad: 1e5 })),
)
await appendTo(
  '30 batch 9 x 100kB = 0.9MB',
  `big-${randomUUID()}`,
  Array.from({ length: 9 }, (_, n) => event(n, { pad: 1e5 })),
)
const content: string[] = []
for await (const { event: found } of client.readStream(stream))
  content.push(`${found?.revision}:${ids.indexOf(found?.id ?? '')}`)
print('stream content revision:idIndex', content.join(' '))

const quiet = connect('&throwOnAppendFailure=false')
const quietly = (label: string, to: string, options: AppendToStreamOptions): Promise<void> =>
  show(label, () => quiet.appendToStream(to, [event(1)], options))
await quietly(`40 throwOnAppendFailure=false wrong rev 2n (current ${await lastRevision()})`, stream, {
  expectedRevision: 2n,
})
await quietly('41 throwOnAppendFailure=false NO_STREAM existing', stream, { expectedRevision: NO_STREAM })
await quietly('42 throwOnAppendFailure=false exact 5n on missing', `missing-${randomUUID()}`, { expectedRevision: 5n })
const NOTHING = 'NO ANSWER in 5s'
await show('47 bad uuid id', () =>
  orNothing(client.appendToStream(stream, [event(1, { id: 'not-a-uuid' })]), 5000, NOTHING),
)
await show('48 stream name empty', () => orNothing(client.appendToStream('', [event(1)]), 5000, NOTHING))
process.on('unhandledRejection', (error) => print('unhandledRejection', (error as Error).message))
await show('49 data with BigInt', () =>
  orNothing(client.appendToStream(stream, [jsonEvent({ type: 'X', data: { a: 1n } })]), 5000, NOTHING),
)
process.exit(0)
