import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { NO_CHECKPOINT, type Documents } from '../../../application/ports/documents.ts'
import { BEGINNING, type Position, type EventStore, type NewEvent } from '../../../application/ports/event-store.ts'
import { SESSION_LISTS, type RebuildProgress } from '../../../application/ports/projector.ts'
import { openSqliteDocuments } from '../../../infrastructure/sqlite/documents/documents.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { shareOf } from '../../../projections/share-of.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { right } from '../../support/tools/right.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { differencesOf, foldLog } from '../../../projections/fold-log.ts'
import { startProjector } from '../../../projections/projector.ts'
import { SINGLE_PROCESS_LEASES } from '../../support/worlds/single-process-leases.ts'
import { sealedLive } from '../../support/events/stored-events.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'

const environment = createTestEnvironment()

const newEvent = ({ type, data }: { readonly type: string; readonly data: object }): NewEvent => ({
  id: environment.newId(),
  type,
  data: { ...data },
  metadata: { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() },
})

/** Appends created sessions; every second session has also ended. Returns the highest position. */
const createLives = async (store: EventStore, from: number, count: number): Promise<Position> => {
  const appended = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const liveId = from + n
      const data = { liveId, userId: 1 + (liveId % 3), at: environment.now() }
      const ended = liveId % 2 === 0 ? [newEvent({ type: 'LiveFinished', data: { ...data, reason: 'restart' } })] : []
      return right(await store.append(`live-${liveId}`, 'no-stream', [newEvent(sealedLive(data)), ...ended]))
        .position
    }),
  )
  return appended.toSorted().at(-1) ?? BEGINNING
}

/** Runs the projections until the end of the test. */
const serve = (t: ExecutionContext, store: EventStore, documents: Documents) => {
  const stop = new AbortController()
  const logger = createRecordingLogger()
  const projector = startProjector({
    store,
    documents,
    projections: allProjections,
    leases: SINGLE_PROCESS_LEASES,
    code: 'test',
    logger,
    environment,
    timers: systemTimers,
    signal: stop.signal,
  })
  t.teardown(async () => {
    stop.abort()
    await projector.stopped
  })
  return { projector, logger }
}

/** Compares every read model with a new fold of the log. */
const differences = async (store: EventStore, documents: Documents): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  const to = right(await store.head())
  for (const projection of allProjections) {
    const fresh = createMemoryDocuments()
    const { name: collection } = projection.collection
    right(await fresh.ensure([projection.collection]))
    await foldLog({ store, documents: fresh }, projection, {
      from: NO_CHECKPOINT,
      to,
      signal: new AbortController().signal,
    })
    for await (const { id, kind } of differencesOf({ documents, collection }, { documents: fresh, collection }))
      found.push(`${collection} ${id} ${kind}`)
  }
  return found
}

/** Reads the newest sessions of user 1. */
const page = (documents: Documents, limit: number) =>
  documents.page('lives', { filter: { userId: 1 }, sort: { by: 'id', direction: 'descending' }, skip: 0, limit })

test('a rebuild during writes serves every read, corrects errors and equals the fold of the log', async (t) => {
  const directory = await temporaryDirectory()
  const store = await openSqliteEventStore({ file: join(directory.path, 'events.sqlite') })
  const documents = await openSqliteDocuments({ file: join(directory.path, 'documents.sqlite') })
  t.teardown(async () => {
    await Promise.all([store.close(), documents.close()])
    await directory.remove()
  })
  const { projector, logger } = serve(t, store, documents)
  const filled = await createLives(store, 1, 1500)
  await eventually(() => assert.ok(projector.lag().every(({ position }) => position >= filled)), { timeoutMs: 120_000 })
  const tampering = new DatabaseSync(join(directory.path, 'documents.sqlite'), { timeout: 5000 })
  tampering.exec(
    `UPDATE documents_lives SET body = replace(body, '"worker":"', '"worker":"x') WHERE id IN ('7', '8', '9')`,
  )
  tampering.exec(`UPDATE documents_lives SET body = NULL WHERE id = '10'`)
  tampering.close()

  const steps: Array<RebuildProgress> = []
  const done = new AbortController()
  let sawRebuilding = false
  let reads = 0
  const serving = (async () => {
    for (let next = 5000; !done.signal.aborted; next += 5) {
      const position = await createLives(store, next, 5)
      await projector.whenProjected(SESSION_LISTS, position)
      const listed = right(await page(documents, 10_000))
      assert.ok(listed.length >= 500, `${listed.length} sessions were listed`)
      sawRebuilding ||= projector.lag().some((lag) => lag.projection === 'lives' && lag.rebuilding)
      reads += 1
      await setImmediate()
    }
  })()
  const rebuilt = right(await projector.rebuild('lives', (step) => steps.push(step)))
  done.abort()
  await serving
  t.is(rebuilt.corrected, 4)
  t.true(reads > 0 && sawRebuilding)
  t.true(rebuilt.events >= 2250)
  t.true(steps.length >= 2 && steps.every(({ share }) => share !== null && share > 0 && share <= 1))
  await projector.whenProjected(SESSION_LISTS, await createLives(store, 900_000, 1))
  t.deepEqual(await differences(store, documents), [])
  t.true(logger.lines.some(({ message }) => message === 'rebuild finished'))
  t.like(
    right(await projector.rebuild('lives', () => undefined)),
    { corrected: 0 },
    'a second rebuild has nothing to correct',
  )
  t.deepEqual(await differences(store, documents), [])
})

test('events written during the comparison are in the new documents and count as no difference', async (t) => {
  const store = createMemoryEventStore()
  const inner = createMemoryDocuments()
  let hasWritten = false
  const documents: Documents = {
    ...inner,
    scan:
      async (collection, ...rest) => {
        if (!hasWritten) {
          hasWritten = true
          const data = { liveId: 1, userId: 2, at: environment.now() }
          right(await store.append('live-1', 0, [newEvent({ type: 'LiveStarted', data })]))
          await projector.whenProjected(SESSION_LISTS, await createLives(store, 100, 3))
        }
        return await inner.scan(collection, ...rest)
      },
  }
  const { projector } = serve(t, store, documents)
  await projector.whenProjected(SESSION_LISTS, await createLives(store, 1, 6))
  t.like(right(await projector.rebuild('lives', () => undefined)), { corrected: 0 })
  t.true(hasWritten)
  t.deepEqual(await differences(store, inner), [])
})

test('a rebuild waits for unavailable documents, the old read model serves, and a second request joins', async (t) => {
  const store = createMemoryEventStore()
  const inner = createMemoryDocuments()
  let isUnavailable = true
  const unavailable = E.left({ _tag: 'DocumentsUnavailable' as const, reason: 'documents are down' })
  const documents: Documents = {
    ...inner,
    commit:
      async (model, ...rest) =>
        isUnavailable && model.projection === 'lives-staged' ? unavailable : inner.commit(model, ...rest),
  }
  const { projector, logger } = serve(t, store, documents)
  await projector.whenProjected(SESSION_LISTS, await createLives(store, 1, 10))
  const steps: Array<RebuildProgress> = []
  const rebuilt = projector.rebuild('lives', (step) => steps.push(step))
  const second = projector.rebuild('lives', () => undefined)
  await eventually(() => assert.ok(steps.filter(({ held }) => held === 'documents are down').length > 2))
  await projector.whenProjected(SESSION_LISTS, await createLives(store, 11, 10))
  t.is(right(await page(documents, 100)).length, 6)
  t.true(logger.lines.some(({ level, fields }) => level === 'warn' && fields['reason'] === 'documents are down'))
  isUnavailable = false
  t.like(right(await rebuilt), { corrected: 0, resumed: false })
  t.is(right(await second), right(await rebuilt))
  t.deepEqual(await differences(store, documents), [])
  t.regex(E.isLeft(await projector.rebuild('nothing', () => undefined)) ? 'refused' : '', /refused/)
})

test('a rebuild with a permanent error is abandoned, and the old read model serves', async (t) => {
  const store = createMemoryEventStore()
  const inner = createMemoryDocuments()
  const documents: Documents = {
    ...inner,
    find: (collection, ids) => {
      if (collection === 'lives-staged') throw new Error('the code is wrong')
      return inner.find(collection, ids)
    },
  }
  const { projector, logger } = serve(t, store, documents)
  await projector.whenProjected(SESSION_LISTS, await createLives(store, 1, 10))
  t.deepEqual(await projector.rebuild('lives', () => undefined), E.left('the code is wrong'))
  t.true(logger.lines.some(({ level, fields }) => level === 'error' && fields['projection'] === 'lives'))
  await projector.whenProjected(SESSION_LISTS, await createLives(store, 11, 10))
  t.deepEqual(await differences(store, documents), [])
})

test('a projection that stopped at a damaged document continues after a rebuild', async (t) => {
  const store = createMemoryEventStore()
  const inner = createMemoryDocuments()
  let isDamaged = false
  const documents: Documents = {
    ...inner,
    find: (collection, ids) => {
      if (isDamaged && collection === 'lives' && ids.includes('1')) throw new Error('the document is damaged')
      return inner.find(collection, ids)
    },
    promote: async (from, to) => {
      isDamaged = false
      return await inner.promote(from, to)
    },
  }
  const { projector } = serve(t, store, documents)
  await projector.whenProjected(SESSION_LISTS, await createLives(store, 1, 2))
  isDamaged = true
  const data = { liveId: 1, userId: 2, at: environment.now() }
  const { position } = right(await store.append('live-1', 0, [newEvent({ type: 'LiveStarted', data })]))
  const livesLag = () => projector.lag().find(({ projection }) => projection === 'lives')
  await eventually(() => assert.match(livesLag()?.error ?? '', /damaged/))
  t.like(right(await projector.rebuild('lives', () => undefined)), { corrected: null })
  await eventually(() => assert.ok(livesLag()?.error === null && (livesLag()?.position ?? '') >= position))
  t.deepEqual(await differences(store, documents), [])
})

test('the progress of a rebuild is known only when positions begin with a number of fixed width', (t) => {
  const position = (text: string) => text as Position
  t.is(shareOf(position('0005'), position('0010')), 0.5)
  t.is(shareOf(position('0010'), position('0010')), 1)
  t.is(shareOf(position('0002/7'), position('0008/1')), 0.25)
  t.is(shareOf(position(''), position('0010')), 0)
  t.is(shareOf(position('abc'), position('abd')), null)
})
