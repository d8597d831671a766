import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ExecutionContext } from 'ava'
import { rightOf } from '../tools/right.ts'
import { isOnServers } from '../stores/chosen-stores.ts'
import type { Client, Json, Listing, LiveJson, Single } from './client.ts'
import { runTestService, startTestService, type TestService } from './service.ts'
import { openLogOf } from '../stores/stores.ts'

interface DamagedStream {
  readonly stream: string
  readonly problem: string
}

interface ReportedDamage {
  readonly status: number
  /** `stream: problem`, sorted. */
  readonly streams: ReadonlyArray<string>
  readonly missing: unknown
}

/** Returns the damage that `/health/ready` reports. */
export const reportedDamage = async (service: TestService): Promise<ReportedDamage> => {
  const { status, body } = await service.anonymous().get<{ readonly checks: Json }>('/health/ready')
  const damaged = body.checks['damagedStreams'] as ReadonlyArray<DamagedStream>
  const streams = damaged.map(({ stream, problem }) => `${stream}: ${problem}`)
  return { status, streams: streams.toSorted(), missing: body.checks['missingKeys'] }
}

/** A service that has ended, and the ids in its data. */
export interface StoppedService {
  readonly service: TestService
  readonly live: LiveJson
  readonly tokenId: number
}

/** Creates Ada (user 2) with a session and an API token, and Bob (user 3). Ends the process. */
const fillAndStop = async (service: TestService): Promise<StoppedService> => {
  const ada = await service.user('ada')
  await service.user('bob')
  const live = await ada.createLive()
  const { body } = await ada.post<Single<{ readonly id: number }>>('/tokens', { name: 'ci' })
  assert.deepEqual(await reportedDamage(service), { status: 200, streams: [], missing: [] }, 'the log is healthy')
  await service.kill('SIGTERM')
  return { service, live, tokenId: body.data.id }
}

let shared: Promise<StoppedService> | undefined
const disposals: Array<() => Promise<void>> = []
/** Removes the service that the tests copied. For `test.after.always`. */
export const disposeServices = async (): Promise<void> => {
  for (const dispose of disposals) await dispose()
}

const createShared = async (): Promise<StoppedService> => {
  const { dispose, ...service } = await runTestService()
  disposals.push(dispose)
  return fillAndStop(service)
}

/** Returns a stopped service with data. Each test gets a copy of one service; on servers each test fills its own. */
export const stoppedService = async (t: ExecutionContext): Promise<StoppedService> => {
  if (isOnServers) return fillAndStop(await startTestService(t))
  const original = await (shared ??= createShared())
  return { ...original, service: await startTestService(t, {}, original.service.dataDirectory) }
}

/** Appends an event that the service never writes. The process must have ended. */
export const appendEvent = async (service: TestService, stream: string, type: string, data: Json): Promise<void> => {
  const log = await openLogOf(service)
  const recordedAt = '2026-11-21T09:30:00.123456+00:00'
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt }
  await rightOf(log.append(stream, 'any', [{ id: randomUUID(), type, data, metadata }]))
  await log.close()
}

/** Changes one byte of the event at `revision` of a stream. */
export const flipByte = ({ dataDirectory }: TestService, stream: string, revision: number): void => {
  const database = new DatabaseSync(join(dataDirectory, 'events.sqlite'))
  const { changes } = database
    .prepare(`UPDATE events SET metadata = replace(metadata, 'recordedAt', 'recordedAu')
      WHERE rev = ? AND sid = (SELECT sid FROM streams WHERE name = ?)`)
    .run(revision, stream)
  database.close()
  if (Number(changes) !== 1) throw new Error(`${stream} has no revision ${revision}`)
}

/** Checks that a user with undamaged data can work normally. */
export const assertUsable = async (t: ExecutionContext, client: Client): Promise<void> => {
  const live = await client.createLive()
  t.is((await client.get(`/lives/${live.id}`)).status, 200)
  t.is((await client.put(`/lives/${live.id}/finish`)).status, 200)
  t.is((await client.post('/tokens', { name: 'mine' })).status, 200)
  t.is((await client.get<Listing<LiveJson>>('/lives/')).body.data[0]?.id, live.id)
}
