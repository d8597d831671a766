import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { v7 } from 'uuid'
import { cpuSecondsOf } from '../../../bench/cpu-time.ts'
import type { Client } from '../../support/service/client.ts'
import { runTestService, type TestService } from '../../support/service/service.ts'
import { footprintOf } from '../../support/tools/footprint.ts'
import { sealEvents } from '../../../application/log/event-serialization.ts'
import type { NewEvent } from '../../../application/ports/event-store.ts'
import { ADMISSION_STREAM } from '../../../domain/admission/events.ts'
import { liveStream } from '../../../domain/live/events.ts'
import { EMBEDDED_NAME } from '../../../infrastructure/embedded-members.ts'
import { loadMasterKey } from '../../../infrastructure/keys/master-key.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { openSqliteKeyring } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { liveCreated } from '../../support/events/sample-events.ts'
import { right } from '../../support/tools/right.ts'

const ADMISSIONS_AT_ONCE = 200

/**
 * Adds `count` sessions of a user that wait for their first sender, with ids from `first`, to the embedded stores of a
 * stopped service. Nobody created or opened sessions there before. They reserve no memory, so their number is free.
 */
const addOpenSessions = async (
  dataDirectory: string,
  { userId, first, count }: { readonly userId: number; readonly first: number; readonly count: number },
): Promise<void> => {
  const masterKey = await loadMasterKey(join(dataDirectory, 'master.key'))
  const store = await openSqliteEventStore({ file: join(dataDirectory, 'events.sqlite') })
  const keyring = await openSqliteKeyring({ file: join(dataDirectory, 'keyring.sqlite'), masterKey })
  const [at, instance] = [new Date().toISOString().replace('Z', '000+00:00'), v7()]
  const metadata = { correlationId: v7(), causationId: v7(), actor: `user:${userId}`, recordedAt: at }
  const vram = 0
  const admitted = (liveId: number): NewEvent => {
    const reserved = { liveId, userId, worker: EMBEDDED_NAME, vram, needs: ['demo-en'], instance }
    return { id: v7(), type: 'Admitted', data: { ...reserved, commandId: `create-${liveId}`, at }, metadata }
  }
  const create = async (liveId: number): Promise<void> => {
    const created = liveCreated({
      liveId, userId, at, commandId: `create-${liveId}`, worker: EMBEDDED_NAME, vram,
      model: { id: 1, name: 'demo-en', vram }, senderToken: v7(), senderTokenHash: v7(), listenerToken: v7(),
      listenerTokenHash: v7(),
    })
    const sealed = right(await sealEvents(keyring, liveStream(liveId))([created]))
    right(await store.append(liveStream(liveId), 'no-stream', sealed.map((one) => ({ ...one, id: v7(), metadata }))))
  }
  for (let from = first; from < first + count; from += ADMISSIONS_AT_ONCE) {
    const ids = Array.from({ length: Math.min(ADMISSIONS_AT_ONCE, first + count - from) }, (_, index) => from + index)
    right(await store.append(ADMISSION_STREAM, 'any', ids.map(admitted)))
    await Promise.all(ids.map(create))
  }
  await store.close()
  await keyring.close()
}

const FEW = 100
const MANY = Number(process.env['STENOLOG_TEST_OPEN'] ?? 20_000)
const PAGES = 30
/** The first round of the reconciler comes after 30 s and checks all sessions. */
const FIRST_ROUND_MS = 45_000
const IDLE_MS = 60_000

interface Figures {
  /** Seconds from the start of the process until `/health/ready` answers 200. */
  readonly start: number
  /** Processor seconds of the service until then. */
  readonly startCpu: number
  /** Share of a core that the service takes without requests. */
  readonly idle: number
  /** Milliseconds of the service's processor for a page of the list. */
  readonly page: number
  /** Bytes. */
  readonly memory: number
  readonly snapshot: number
  /** Appended events of the measured start. */
  readonly appended: number
}

const untilReady = async (service: TestService): Promise<void> => {
  while ((await fetch(`${service.url()}/health/ready`)).status !== 200) await setTimeout(20)
}

const cpuOf = (service: TestService): number => cpuSecondsOf(service.pid()) ?? Number.NaN

/** Reads a number from the log beside the service. */
const inLog = (service: TestService, query: string): number => {
  const log = new DatabaseSync(join(service.dataDirectory, 'events.sqlite'), { readOnly: true })
  const row = log.prepare(`SELECT (${query}) AS value`).get()
  log.close()
  return Number(row?.['value'])
}

const LARGEST_SNAPSHOT = 'SELECT max(length(CAST(data AS BLOB))) FROM events JOIN streams USING (sid)'
  + " WHERE name = 'snapshot-admission'"

const pageCost = async (service: TestService, client: Client): Promise<number> => {
  const page = async (): Promise<void> => {
    const { status } = await client.get('/lives/?limit=50')
    if (status !== 200) throw new Error(`the list answered ${status}`)
  }
  for (let count = 0; count < PAGES; count += 1) await page()
  const before = cpuOf(service)
  for (let count = 0; count < PAGES; count += 1) await page()
  return ((cpuOf(service) - before) * 1000) / PAGES
}

const measure = async (sessions: number): Promise<Figures> => {
  const service = await runTestService()
  try {
    const owner = await service.user('owner')
    const { body } = await owner.get<{ readonly data: { readonly id: number } }>('/users/me')
    await service.kill('SIGTERM')
    await addOpenSessions(service.dataDirectory, { userId: body.data.id, first: 1, count: sessions })
    // The first start builds the lists and writes a snapshot.
    await service.start()
    await untilReady(service)
    await service.kill('SIGTERM')
    const events = inLog(service, 'SELECT count(*) FROM events')
    const begun = performance.now()
    await service.start()
    await untilReady(service)
    const start = (performance.now() - begun) / 1000
    const startCpu = cpuOf(service)
    const appended = inLog(service, 'SELECT count(*) FROM events') - events
    await setTimeout(FIRST_ROUND_MS)
    const before = cpuOf(service)
    await setTimeout(IDLE_MS)
    const idle = (cpuOf(service) - before) / (IDLE_MS / 1000)
    const memory = footprintOf(service.pid()).own * 1024 * 1024
    const page = await pageCost(service, await service.logIn('owner'))
    return { start, startCpu, idle, page, memory, snapshot: inLog(service, LARGEST_SNAPSHOT), appended }
  } finally {
    await service.dispose()
  }
}

const figuresOf = async (t: ExecutionContext, sessions: number): Promise<Figures> => {
  const figures = await measure(sessions)
  t.log(`${sessions} open: ${JSON.stringify(figures)}`)
  return figures
}

test(`${MANY} waiting sessions cost little: start, idle time, lists, memory, snapshot`, async (t) => {
  t.timeout(1_800_000)
  const few = await figuresOf(t, FEW)
  const many = await figuresOf(t, MANY)
  t.true(many.start <= 5, `${many.start} s until ready`)
  t.true(many.appended < few.appended + 10, `${many.appended} events`)
  t.true(many.idle <= 0.02, `${many.idle} of a core`)
  t.true(many.page <= 3 * few.page, `${many.page} ms a page instead of ${few.page}`)
  const bytes = (many.memory - few.memory) / (MANY - FEW)
  t.true(bytes <= 20_000, `${bytes} bytes a session`)
  t.true(many.snapshot <= 900_000, `a snapshot of ${many.snapshot} bytes`)
})
