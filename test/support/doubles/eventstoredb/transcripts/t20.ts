/**
 * Recorded script t20: reads of $all and subscriptions to it, with checkpoints, impossible positions, metadata of
 * deleted streams and scavenges. Arguments: the URL of an empty server; the number of events of 60 kB that fill its
 * first chunk, because only full chunks are scavenged (recorded with 100 and `--chunk-size=4194304`).
 */
import {
  NO_STREAM,
  START,
  streamNameFilter,
  type AllStreamResolvedEvent,
  type AppendExpectedRevision,
  type Position,
  type ReadAllOptions,
} from '@eventstore/db-client'
import { eventually } from '../../../tools/eventually.ts'
import { event, openSession, reading } from './session.ts'

const { client, show, print } = openSession()

/** Appends events with these numbers. Returns the position of the last event. */
const add = async (stream: string, ...numbers: ReadonlyArray<number>): Promise<Position> => {
  const { position } = await client.appendToStream(stream, numbers.map((n) => event(n)))
  if (position === undefined) throw new Error('an append without a position')
  return position
}
const count = (length: number): ReadonlyArray<number> => Array.from({ length }, (_, n) => n)

/** Replaces the ids of scavenges, which differ between runs. */
const nameOf = ({ event: found }: AllStreamResolvedEvent): string =>
  `${found?.streamId.replace(/-[0-9a-f-]{36}/, '-ID')}@${found?.revision}`
const all = async (options: ReadAllOptions = {}): Promise<ReadonlyArray<AllStreamResolvedEvent>> => {
  const found: AllStreamResolvedEvent[] = []
  for await (const each of client.readAll(options)) found.push(each)
  return found
}
const names = new Map([[0n, 'start']])
/** Names each position after its event. */
const learnPositions = async (): Promise<void> => {
  for (const each of await all()) names.set(each.event?.position.commit ?? 0n, nameOf(each))
}
const place = ({ commit, prepare }: Position): string =>
  `${names.get(commit) ?? 'unknown'}${prepare === commit ? '' : `/${prepare}`}`

type From = Position | typeof START

/** Records the messages of a subscription to $all. Positions are replaced by names when they are printed. */
const listen = (from: From, filter: { readonly prefixes: string[]; readonly maxSearchWindow?: number } | null) => {
  const messages: Array<readonly [name: string, position?: Position]> = []
  const checkpointReached = (_: unknown, position: Position): void => void messages.push(['checkpoint', position])
  const subscription = client.subscribeToAll({
    fromPosition: from,
    ...(filter === null ? {} : { filter: streamNameFilter({ ...filter, checkpointInterval: 1, checkpointReached }) }),
  })
  subscription
    .on('confirmation', () => messages.push(['confirmation']))
    .on('data', (each) => messages.push([nameOf(each)]))
    .on('caughtUp', () => messages.push(['caughtUp']))
    .on('error', ({ constructor, message }: Error) => messages.push([`${constructor.name} ${message}`]))
  const until = (start: string): Promise<void> =>
    eventually(() => {
      if (!messages.some(([each]) => each.startsWith(start) || each.includes('Error')))
        throw new Error(`waits for ${start}, received ${JSON.stringify(messages.map(([each]) => each))}`)
    })
  return {
    until,
    /** Returns the messages after the last call. */
    taken: (): string =>
      messages
        .splice(0)
        .map(([what, where]) => (where === undefined ? what : `${what} ${place(where)}`))
        .join(', '),
    end: () => subscription.unsubscribe().catch(() => undefined),
  }
}

print('== the log of a new server')
for (const each of await all()) print(nameOf(each), each.event?.type, JSON.stringify(each.event?.data))

print('== checkpoints')
await add('live-1', 0)
await add('other', ...count(100))
for (const [round, maxSearchWindow] of [undefined, 1, 40].entries()) {
  await learnPositions()
  const feed = listen(START, { prefixes: ['live-'], ...(maxSearchWindow === undefined ? {} : { maxSearchWindow }) })
  await feed.until('caughtUp')
  print('window', maxSearchWindow, 'catching up:', feed.taken().replace(/(?:checkpoint other@\d+\/0, ){5,}/g, '… '))
  for (const n of count(70)) await add('other', n)
  await add('live-1', round + 1)
  await feed.until('live-1')
  await add('other', 0)
  if (maxSearchWindow === 1) await feed.until('checkpoint')
  await add(`live-end-${round}`, 0)
  await feed.until(`live-end-${round}`)
  await learnPositions()
  print(
    'window',
    maxSearchWindow,
    'live:',
    feed
      .taken()
      .replace(/(?<=live-end-\d@0),.*$/, '')
      .replace(/(?:checkpoint other@\d+, ){5,}/g, '… '),
  )
  await feed.end()
}

print('== positions')
const before = await add('place', 0, 1)
const { commit } = await add('place', 2)
const PLACES: ReadonlyArray<readonly [string, Position]> = [
  ['of an event', { commit, prepare: commit }],
  ['inside an event', { commit: commit + 5n, prepare: commit + 5n }],
  ['after the end', { commit: commit + 99_999n, prepare: commit + 99_999n }],
  ['of an event, prepare 0', { commit, prepare: 0n }],
  ['of an event, prepare before', { commit, prepare: before.commit }],
  ['of an event, prepare after', { commit, prepare: commit + 1n }],
]
for (const [label, fromPosition] of PLACES) {
  const read = async (options: ReadAllOptions) => (await all({ maxCount: 2, fromPosition, ...options })).map(nameOf)
  await show(`${label}: forwards`, () => read({}))
  await show(`${label}: backwards`, () => read({ direction: 'backwards' }))
  for (const filter of [{ prefixes: ['place'] }, null]) {
    const feed = listen(fromPosition, filter)
    await feed.until('caughtUp')
    await add('place', 0)
    await feed.until('place@')
    print(
      `${label}: subscription ${filter === null ? 'to all' : 'with a filter'}:`,
      feed
        .taken()
        .split(', ')
        .filter((message) => !message.startsWith('checkpoint'))
        .slice(0, 3)
        .join(', '),
    )
    await feed.end()
  }
}
await show('backwards from the end', async () =>
  (await all({ direction: 'backwards', fromPosition: 'end', maxCount: 1 })).map((each) => each.event?.streamId),
)
await show('forwards from the end', () => all({ fromPosition: 'end', maxCount: 1 }))
await show('backwards from the start', () => all({ direction: 'backwards', fromPosition: START, maxCount: 1 }))

print('== metadata of deleted streams')
const append = (label: string, stream: string, expectedRevision: AppendExpectedRevision): Promise<void> =>
  show(
    label,
    async () =>
      (await client.appendToStream(stream, [event(3)], { expectedRevision })).nextExpectedRevision,
  )
/** The server writes the metadata again, soon after its answer. */
const metadata = (stream: string) => (): Promise<unknown> =>
  eventually(async () => {
    for await (const { event: found } of client.readStream(`$$${stream}`))
      if (JSON.stringify(found?.data).includes('"$tb":3')) return [found?.revision, found?.type, found?.data]
    throw new Error('not yet')
  })
const deleted = async (stream: string): Promise<void> => {
  await add(stream, 0, 1, 2)
  await client.deleteStream(stream)
}
for (const [stream, written] of [
  ['limits', { maxCount: 2 }],
  ['empty', {}],
  ['earlier', { truncateBefore: 1 }],
] as const) {
  await deleted(stream)
  await show(
    `${stream}: setStreamMetadata`,
    async () => (await client.setStreamMetadata(stream, written)).nextExpectedRevision,
  )
  await show(`${stream}: its metadata`, metadata(stream))
  await show(`${stream}: read`, reading(client, stream))
  await append(`${stream}: append with NO_STREAM`, stream, NO_STREAM)
  await append(`${stream}: append at 2`, stream, 2n)
  await show(`${stream}: read`, reading(client, stream))
}
await deleted('untouched')
await append('untouched: append with NO_STREAM', 'untouched', NO_STREAM)
await show('untouched: its metadata', metadata('untouched'))

print('== a scavenge')
await client.setStreamMetadata('old', { maxCount: 1 })
await client.setStreamMetadata('aged', { maxAge: 1 })
await client.setStreamMetadata('cut', { truncateBefore: 2 })
const GONE = ['old', 'aged', 'cut', 'gone', 'back'] as const
const places: Array<readonly [string, Position]> = []
const first = event(0)
await client.appendToStream('old', [first], { expectedRevision: NO_STREAM })
for (const [n, stream] of GONE.entries()) {
  places.push([`${stream}@${stream === 'old' ? 2 : 1}`, await add(stream, 0, 1)])
  places.push([`keep@${n}`, await add('keep', n)])
  await add(stream, 2)
}
await client.deleteStream('gone')
await client.deleteStream('back')
await add('back', 3)
const endOfKept = await add('keep', 99)
const expiryTime = Date.now() + 1100
for (const _ of count(Number(process.argv[3] ?? 0)))
  await client.appendToStream('fill', [event(0, { pad: 60_000 })])
await eventually(() => {
  if (Date.now() < expiryTime) throw new Error('not old enough')
})
const http = new URL(process.argv[2]?.replace('esdb:', 'http:') ?? '')
const answer = await fetch(new URL('/admin/scavenge?threshold=-1', http), { method: 'POST' })
print(answer.status, answer.headers.get('content-type'), (await answer.text()).replace(/[0-9a-f-]{36}/, 'ID'))
const ofScavenge = async (): Promise<ReadonlyArray<string>> =>
  (await all({ fromPosition: endOfKept }))
    .filter((each) => each.event?.streamId.startsWith('$') === true)
    .map((each) => `${nameOf(each)} ${each.event?.type}`)
await eventually(async () => {
  const hasEnded = (await ofScavenge()).some((each) => each.startsWith('$scavenges@1'))
  if (!hasEnded) throw new Error('the scavenge is still running')
})
for (const each of (await ofScavenge()).toSorted()) print(each)
print(
  (await all())
    .map(nameOf)
    .filter((name) => [...GONE, 'keep'].some((stream) => name.replace('$$', '').startsWith(`${stream}@`)))
    .join(' '),
)
for (const [name, { commit: at }] of places) {
  for (const [label, inside] of [['', 0n], [' inside', 3n]] as const) {
    const fromPosition = { commit: at + inside, prepare: at + inside }
    const next = async (options: ReadAllOptions) =>
      (await all({ fromPosition, maxCount: 1, ...options })).map(nameOf).join()
    const feed = listen(fromPosition, { prefixes: [...GONE, 'keep'] })
    await feed.until('caughtUp')
    const received = feed.taken().split(', ').slice(0, 2).join(', ')
    await feed.end()
    print(
      `${name}${label}: forwards ${await next({})}, ` +
        `backwards ${await next({ direction: 'backwards' })}, subscription ${received}`,
    )
  }
}
for (const stream of GONE) {
  await show(`${stream}: read`, reading(client, stream))
  await append(`${stream}: append with NO_STREAM`, stream, NO_STREAM)
}
await show('old: a retry of the scavenged append', async () =>
  (await client.appendToStream('old', [first], { expectedRevision: NO_STREAM })),
)
process.exit(0)
