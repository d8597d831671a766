import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { checkIntegrity } from '../../../../application/lives/queries/get-integrity.ts'
import { getTranscript } from '../../../../application/lives/queries/get-transcript.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { right } from '../../../support/tools/right.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'

const owner = callerOf(1, { permissions: ['user_retention'] })

/** A store in which these revisions of the text of session 1 are damaged. */
const storeWithDamage = (damaged: Set<number>): EventStore => {
  const store = createMemoryEventStore()
  const read: EventStore['read'] = async (stream, options) => {
    const events = await store.read(stream, options)
    const lost = E.isRight(events) && stream === 'segments-1'
      ? events.right.find(({ revision }) => damaged.has(revision))
      : undefined
    if (lost === undefined) return events
    return E.left({ _tag: 'LogCorrupted', reason: `revision ${lost.revision} is damaged` })
  }
  return { ...store, read }
}

const segmentOf = (segment: number, language = 'en') => ({
  liveId: 1, segment, start: 10 * segment, end: 10 * segment + 5, text: `text ${segment}`,
  kind: language === 'en' ? ('transcription' as const) : ('translation' as const), language,
})

const start = async () => {
  const damaged = new Set<number>()
  const side = await createWriteSide({ store: storeWithDamage(damaged) })
  right(await side.createLive(owner, requestOf({ retention: true })))
  return { ...side, damaged, getTranscript: getTranscript({ ...side.deps, retentionMax: 0 }) }
}

const placeholder = (segment: number, from: number, to: number) => ({
  liveId: 1, segment, kind: 'transcription', start: from, end: to, text: '', language: 'en', damaged: true,
})

test('a damaged segment costs only its own line of the transcript', async (t) => {
  const { lifecycle, damaged, getTranscript } = await start()
  for (const segment of [1, 2, 3, 4]) right(await lifecycle.recordSegment(segmentOf(segment)))
  damaged.add(1)
  t.deepEqual(right(await getTranscript(owner, 1)), [
    segmentOf(1), placeholder(2, 15, 30), segmentOf(3), segmentOf(4),
  ] as ReadonlyArray<object>)
  damaged.add(0).add(3)
  t.deepEqual(right(await getTranscript(owner, 1)), [
    placeholder(1, 0, 30), placeholder(2, 30, 30), segmentOf(3), placeholder(4, 35, 35),
  ] as ReadonlyArray<object>)
})

test('listeners that return get all finals that are not damaged', async (t) => {
  const { lifecycle, damaged } = await start()
  for (let segment = 1; segment <= 300; segment += 1) right(await lifecycle.recordSegment(segmentOf(segment)))
  for (const revision of [0, 150, 299]) damaged.add(revision)
  const segmentsFrom = async (point: Parameters<typeof lifecycle.storedFinals>[1]): Promise<ReadonlyArray<number>> => {
    const pages = right(await lifecycle.storedFinals(1, point))
    const found: Array<number> = []
    for (;;) {
      const page = right(await pages.next())
      if (page === null) return found
      found.push(...page.map(({ segment }) => segment))
    }
  }
  const after = (from: number) => Array.from({ length: 299 - from }, (_, index) => from + 1 + index)
  t.deepEqual(await segmentsFrom({ kind: 'after', segment: 0 }), after(1).filter((segment) => segment !== 151))
  t.deepEqual(await segmentsFrom({ kind: 'after', segment: 149 }), after(149).filter((segment) => segment !== 151))
  t.deepEqual(await segmentsFrom({ kind: 'last', count: 3 }), [297, 298, 299])
})

test('the integrity of a session includes its text', async (t) => {
  const damages = new Map([['segments-1', [{ revision: 1, reason: 'changed' }, { revision: null, reason: 'cut' }]]])
  const { deps } = await start()
  const integrityOf = checkIntegrity({
    ...deps, retentionMax: 0,
    environment: { now: () => 'now' },
    verifyStream: async (stream) =>
      E.right({ rows: 2, first: 1, last: 2, headHash: stream, damages: damages.get(stream) ?? [] }),
  })
  const common = { rows: 2, first: 1, last: 2, checkedAt: 'now' }
  t.deepEqual(right(await integrityOf(2)), { ...common, headHash: 'live-2', status: 'intact', damaged: [] })
  t.deepEqual(right(await integrityOf(1)), {
    ...common, headHash: 'live-1', status: 'damaged',
    damaged: [{ id: 0, reason: 'entry 2 of the text: changed' }, { id: 0, reason: 'the text: cut' }],
  })
})

test('the integrity of a session shows a text that had to be forgotten', async (t) => {
  const { lifecycle, createLive, deps } = await start()
  right(await createLive(owner, requestOf({ retention: false })))
  for (const liveId of [1, 2]) {
    right(await lifecycle.recordSegment({ ...segmentOf(1), liveId }))
    right(await lifecycle.endLive(liveId, { status: 'finished', reason: 'finish_message' })())
  }
  const ended = deps.store.now()
  const reasonsAfter = async (liveId: number, seconds: number, retentionMax = 0): Promise<ReadonlyArray<string>> => {
    const integrityOf = checkIntegrity({
      ...deps, retentionMax, store: { ...deps.store, now: () => ended + 1000 * seconds },
      verifyStream: async () => E.right({ rows: 1, first: 1, last: 1, headHash: '', damages: [] }),
    })
    return right(await integrityOf(liveId)).damaged.map(({ reason }) => reason)
  }
  const overdue = ['the text is still readable although it had to be forgotten']
  t.deepEqual(await reasonsAfter(2, 120), [], 'the erasure may be in progress')
  t.deepEqual(await reasonsAfter(2, 140), overdue)
  t.deepEqual(await reasonsAfter(1, 140), [], 'the text is kept')
  t.deepEqual(await reasonsAfter(1, 140, 60_000), overdue, 'RETENTION_MAX has passed')
  right(await deps.keyring.erase(['text-2']))
  t.deepEqual(await reasonsAfter(2, 140), [])
})
