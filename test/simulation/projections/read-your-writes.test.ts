import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import test from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import { SESSION_LISTS } from '../../../application/ports/projector.ts'
import { sealEvents } from '../../../application/log/event-serialization.ts'
import { openSqliteDocuments } from '../../../infrastructure/sqlite/documents/documents.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { openSqliteKeyring } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { startProjector } from '../../../projections/projector.ts'
import { SINGLE_PROCESS_LEASES } from '../../support/worlds/single-process-leases.ts'
import { liveCreated } from '../../support/events/sample-events.ts'
import { right } from '../../support/tools/right.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'

test('on the embedded stores each of 1000 reads sees the write before it', async (t) => {
  const directory = await temporaryDirectory()
  const environment = createTestEnvironment()
  const store = await openSqliteEventStore({ file: join(directory.path, 'events.sqlite') })
  const documents = await openSqliteDocuments({ file: join(directory.path, 'documents.sqlite') })
  const keyring = await openSqliteKeyring({ file: join(directory.path, 'keyring.sqlite'), masterKey: randomBytes(32) })
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
    await Promise.all([store.close(), documents.close(), keyring.close()])
    await directory.remove()
  })
  await projector.caughtUp()

  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }
  for (let liveId = 1; liveId <= 1000; liveId++) {
    const sealed = right(await sealEvents(keyring, `live-${liveId}`)([liveCreated({ liveId })]))
    const events = sealed.map((event) => ({ ...event, id: environment.newId(), metadata }))
    const { position } = right(await store.append(`live-${liveId}`, 'no-stream', events))
    await projector.whenProjected(SESSION_LISTS, position)
    if (O.isNone(right(await documents.get('lives', String(liveId))))) t.fail(`session ${liveId} was not found`)
  }
  t.is(projector.timeouts(), 0)
  t.deepEqual(logger.lines, [])
  const counts = right(await documents.get('live-counts', '3'))
  t.is(O.isSome(counts) && Array.isArray(counts.value['pending']) ? counts.value['pending'].length : 0, 1000)
})
