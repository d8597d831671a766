import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { EVENTS_PER_LIVE, fillWithLives } from '../../../bench/log-of-lives.ts'
import { openSqliteDocuments } from '../../../infrastructure/sqlite/documents/documents.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { differencesOf, foldLog } from '../../../projections/fold-log.ts'
import { lives } from '../../../projections/lives/projection.ts'
import type { Listing, LiveJson } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { right } from '../../support/tools/right.ts'
import { startTestService } from '../../support/service/service.ts'
import { NO_CHECKPOINT } from '../../../application/ports/documents.ts'

const EVENTS = Number(process.env['STENOLOG_TEST_REBUILT_EVENTS'] ?? 1_000_000)
/** Id of the first stored session. It is far above the ids that the service assigns. */
const FIRST_LIVE_ID = 1_000_000
const TAMPERED = [FIRST_LIVE_ID, FIRST_LIVE_ID + 1, FIRST_LIVE_ID + 2]

test(`the service answers during a rebuild from ${EVENTS} events, and the result matches the log`, async (t) => {
  t.timeout(1_800_000)
  const service = await startTestService(t)
  const own = await (await service.user('reader', { max_sessions: 100 })).createLive()
  await service.kill('SIGTERM')
  const log = join(service.dataDirectory, 'events.sqlite')
  const filling = await openSqliteEventStore({ file: log })
  await fillWithLives(filling, EVENTS / EVENTS_PER_LIVE, FIRST_LIVE_ID)
  await filling.close()
  await service.start()
  // The port opens before the lists are ready.
  const assertReady = async () => assert.equal((await service.anonymous().get('/health/ready')).status, 200)
  await eventually(assertReady, { timeoutMs: 900_000 })
  await service.kill('SIGTERM')
  const tampering = new DatabaseSync(join(service.dataDirectory, 'documents.sqlite'))
  tampering.exec(
    `UPDATE documents_lives SET body = replace(body, '"status":"finished"', '"status":"pending"') ` +
      `WHERE id IN (${TAMPERED.map((id) => `'${id}'`).join()})`,
  )
  tampering.close()
  await service.start()

  const client = await service.logIn('reader')
  const done = new AbortController()
  const readMs: Array<number> = []
  const reading = (async () => {
    for (let created = 1; !done.signal.aborted; await setImmediate()) {
      const begin = performance.now()
      const { status, body } = await client.get<Listing<LiveJson>>('/lives/?limit=100')
      readMs.push(performance.now() - begin)
      t.is(status, 200)
      t.is(body.pagination.total_items, created)
      t.is(body.data.at(-1)?.id, own.id)
      // A few writes during the rebuild must be in the rebuilt list too.
      if (readMs.length % 100 === 0 && created < 50) {
        await client.createLive()
        created += 1
      }
    }
  })()
  const rebuilt = await stenolog(service.dataDirectory, ['rebuild', 'lives', '--json'])
  done.abort()
  await reading
  t.is(rebuilt.code, 0, rebuilt.stderr)
  const { events, corrected, seconds } = JSON.parse(rebuilt.stdout) as {
    readonly events: number
    readonly corrected: number
    readonly seconds: number
  }
  t.true(events >= EVENTS)
  t.is(corrected, TAMPERED.length)
  const percentages = [...rebuilt.stderr.matchAll(/(\d+) %/g)].map(([, percent]) => Number(percent))
  t.true(percentages.length >= 5, rebuilt.stderr)
  t.deepEqual(percentages, percentages.toSorted((a, b) => a - b))

  await service.kill('SIGTERM')
  const store = await openSqliteEventStore({ file: log })
  const documents = await openSqliteDocuments({ file: join(service.dataDirectory, 'documents.sqlite') })
  t.teardown(() => Promise.all([store.close(), documents.close()]))
  const fresh = createMemoryDocuments()
  right(await fresh.ensure([lives.collection]))
  await foldLog({ store, documents: fresh }, lives, {
    from: NO_CHECKPOINT,
    to: right(await store.head()),
    signal: new AbortController().signal,
  })
  const collection = lives.collection.name
  const different: Array<string> = []
  for await (const { id, kind } of differencesOf({ documents, collection }, { documents: fresh, collection }))
    different.push(`${id} ${kind}`)
  t.deepEqual(different, [])
  const sorted = readMs.toSorted((a, b) => a - b)
  t.log(
    `${events} events in ${seconds.toFixed(0)} s; ${readMs.length} reads meanwhile, ` +
      `median ${sorted[sorted.length >> 1]?.toFixed(0)} ms, slowest ${sorted.at(-1)?.toFixed(0)} ms`,
  )
})
