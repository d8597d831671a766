import { checkLog } from '../../../../application/audit/check-log.ts'
import { sealEvents } from '../../../../application/log/event-serialization.ts'
import { BEGINNING, type EventStore, type NewEvent } from '../../../../application/ports/event-store.ts'
import { after, liveCreated } from '../../../support/events/sample-events.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'

export const environment = createTestEnvironment()

export type Step = readonly [stream: string, event: { readonly type: string; readonly data: object }]

/** The common data of the events of a session. */
export const about = (liveId: number) => ({ liveId, userId: 3, at: after(0) })
const created = liveCreated().data
export const { vram, worker } = created

export const capacity: Step = ['admission', { type: 'CapacitySet', data: { worker, vram: 3 * vram, at: after(0) } }]
export const admitted = (liveId: number, extraData: object = {}): Step => [
  'admission',
  {
    type: 'Admitted',
    data: {
      ...about(liveId),
      userId: created.userId,
      worker,
      vram,
      needs: null,
      instance: 'i',
      commandId: `c${liveId}`,
      ...extraData,
    },
  },
]
export const released = (liveId: number): Step => ['admission', { type: 'Released', data: { liveId, at: after(0) } }]
/** An event in the stream of a session. */
export const on = (type: string, liveId = 1, extraData: object = {}): Step => [
  `live-${liveId}`,
  { type, data: { ...about(liveId), ...extraData } },
]
export const creation = (liveId = 1): Step => [`live-${liveId}`, { type: 'LiveCreated', data: { ...created, liveId } }]
export const segment = (number: number, kind = 'transcription', term = 1): Step => [
  'segments-1',
  {
    type: 'SegmentFinalised',
    data: { liveId: 1, segment: number, start: 0, end: 1, text: 'words', kind, language: 'en', term },
  },
]
export const attached = (epoch: number, term = 1) => on('SenderAttached', 1, { epoch, instance: 'i', term })
/** The worker restarts and gets the session again. */
export const moved = (term: number): ReadonlyArray<Step> => [
  [
    'admission',
    {
      type: 'WorkerLeft',
      data: { worker, incarnation: term === 2 ? null : `run ${term - 1}`, reason: 'rejoined', at: after(0) },
    },
  ],
  ['admission', { type: 'WorkerJoined', data: { worker, incarnation: `run ${term}`, vram: 3 * vram, at: after(0) } }],
  ['admission', { type: 'Moved', data: { liveId: 1, worker, term, at: after(0) } }],
]
export const takenOver = (term: number, by = worker) => on('LiveTakenOver', 1, { worker: by, term })
export const fenced = (term: number): Step => [
  'segments-1',
  { type: 'SegmentsFenced', data: { liveId: 1, worker, term, at: after(0) } },
]
export const finished = on('LiveFinished', 1, { reason: 'restart' })
export const deleted = on('LiveDeleted', 1, { lastStatus: 'finished' })
export const aborted = on('LiveAborted', 1, { reason: 'orphan' })

const limits = { permissions: [], maxSessions: 1, maxTranslations: 1 }
export const registered: Step = [
  'user-3',
  {
    type: 'UserRegistered',
    data: { userId: 3, username: 'u', usernameHash: 'h', passwordHash: 'p', ...limits, at: after(0) },
  },
]
export const userDeleted: Step = [
  'user-3',
  { type: 'UserDeleted', data: { userId: 3, usernameHash: 'h', at: after(0) } },
]
export const disabled: Step = ['user-3', { type: 'UserDisabled', data: { userId: 3, at: after(0) } }]

type Deps = Parameters<typeof checkLog>[0]

/** No key was erased, no stream is shortened, and text with retention is kept for ever. */
export const NOTHING_ERASED: Pick<Deps, 'erasedNames' | 'shortened' | 'retentionMax'> =
  { erasedNames: () => [], shortened: () => [], retentionMax: 0 }

/** A store that reports the events with these indexes as damaged. */
const damagedAt = (store: EventStore, numbers: ReadonlyArray<number>): EventStore => ({
  ...store,
  subscribe: async function* (from, prefixes, signal) {
    let number = 0
    for await (const message of store.subscribe(BEGINNING, prefixes, signal)) {
      if (message.kind !== 'event') yield message
      else {
        const { stream, position } = message.event
        const row = { position, stream }
        if (position > from && numbers.includes(number))
          throw new Error('damaged', { cause: { _tag: 'LogCorrupted', reason: 'r', row } })
        if (position > from) yield message
        number += 1
      }
    }
  },
})

/** A store without the events with these indexes. EventStoreDB removes deleted events so, in a scavenge. */
const scavenged = (store: EventStore, numbers: ReadonlyArray<number>): EventStore => ({
  ...store,
  subscribe: async function* (from, prefixes, signal) {
    let number = 0
    for await (const message of store.subscribe(from, prefixes, signal)) {
      if (message.kind !== 'event' || !numbers.includes(number)) yield message
      if (message.kind === 'event') number += 1
    }
  },
})

/**
 * Returns the problems that `check` finds in a log of these steps. `raw` steps are appended without encryption. The
 * store reports the events with the indexes `damaged` as damaged, and leaves out the events with the indexes `removed`.
 */
export const problemsOf = async (
  steps: ReadonlyArray<Step>,
  raw: ReadonlyArray<Step> = [],
  keyNames: ReadonlyArray<string> = [],
  damaged: ReadonlyArray<number> = [],
  removed: ReadonlyArray<number> = [],
  stored: Partial<Pick<Deps, 'erasedNames' | 'shortened' | 'retentionMax'>> = {},
) => {
  const store = scavenged(damagedAt(createMemoryEventStore(), damaged), removed)
  const keyring = createMemoryKeyring()
  const append = async (stream: string, type: string, data: object): Promise<void> => {
    const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }
    const event: NewEvent = { id: environment.newId(), type, data: { ...data }, metadata }
    right(await store.append(stream, 'any', [event]))
  }
  for (const [stream, event] of steps)
    for (const { type, data } of right(await sealEvents(keyring, stream)([event]))) await append(stream, type, data)
  for (const [stream, { type, data }] of raw) await append(stream, type, data)
  const { problems } = await checkLog({
    ...NOTHING_ERASED, ...stored, store, keyring, keyNames: () => keyNames, now: Date.parse(after(1_000_000)),
  })
  return problems.map(({ check, where, problem }) => `${check}: ${where.replace(/, position.*/, '')}: ${problem}`)
}
