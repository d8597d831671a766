import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ExecutionContext } from 'ava'
import { rightOf } from '../tools/right.ts'
import { isOnServers } from '../stores/chosen-stores.ts'
import type { Client, Json, Listing, LiveJson, Single } from './client.ts'
import { runTestService, startTestService } from './service.ts'
import type { TestService } from './service.ts'
import { openLogOf } from '../stores/stores.ts'

interface Hurt {
  readonly stream: string
  readonly problem: string
}

/** What readiness says of the log. */
export const reportedDamage = async (service: TestService): Promise<{ readonly status: number; readonly streams: ReadonlyArray<string>; readonly missing: unknown }> => {
  const { status, body } = await service.anonymous().get<{ readonly checks: Json }>('/health/ready')
  const streams = (body.checks['hurtStreams'] as ReadonlyArray<Hurt>).map(({ stream, problem }) => `${stream}: ${problem}`)
  return { status, streams: streams.toSorted(), missing: body.checks['missingKeys'] }
}

export interface StoppedService {
  readonly service: TestService
  readonly live: LiveJson
  readonly tokenId: number
}

/** Ada (user 2) with a live, a token and a profile, and Bob (user 3); the process has ended. */
const make = async (service: TestService): Promise<StoppedService> => {
  const ada = await service.user('ada')
  await service.user('bob')
  const live = await ada.createLive()
  const { body } = await ada.post<Single<{ readonly id: number }>>('/tokens', { name: 'ci' })
  assert.deepEqual(await reportedDamage(service), { status: 200, streams: [], missing: [] }, 'nothing is said of a healthy log')
  await service.kill('SIGTERM')
  return { service, live, tokenId: body.data.id }
}

let made: Promise<StoppedService> | undefined
const closing: Array<() => Promise<void>> = []
/** For a hook of the tests: ends what they copied. */
export const disposeServices = async (): Promise<void> => {
  for (const close of closing) await close()
}

const makeOnce = async (): Promise<StoppedService> => {
  const { dispose, ...service } = await runTestService()
  closing.push(dispose)
  return make(service)
}

/** A copy for each test, but of data on servers: those are made anew. */
export const stoppedService = async (t: ExecutionContext): Promise<StoppedService> => {
  if (isOnServers) return make(await startTestService(t))
  const original = await (made ??= makeOnce())
  return { ...original, service: await startTestService(t, {}, original.service.dataDirectory) }
}

/** Appends an event that no version of today writes, to the log of a process that has ended. */
export const appendEvent = async (service: TestService, stream: string, type: string, data: Json): Promise<void> => {
  const log = await openLogOf(service)
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: '2026-11-21T09:30:00.123456+00:00' }
  await rightOf(log.append(stream, 'any', [{ id: randomUUID(), type, data, metadata }]))
  await log.close()
}

/** Changes one byte of what was written at `revision` of a stream. */
export const flipByte = ({ dataDirectory }: TestService, stream: string, revision: number): void => {
  const database = new DatabaseSync(join(dataDirectory, 'events.sqlite'))
  const changed = database
    .prepare("UPDATE events SET metadata = replace(metadata, 'recordedAt', 'recordedAu') WHERE rev = ? AND sid = (SELECT sid FROM streams WHERE name = ?)")
    .run(revision, stream).changes
  database.close()
  if (Number(changed) !== 1) throw new Error(`no revision ${revision} of ${stream}`)
}

/** What somebody does whose own data is whole. */
export const assertUsable = async (t: ExecutionContext, client: Client): Promise<void> => {
  const live = await client.createLive()
  t.is((await client.get(`/lives/${live.id}`)).status, 200)
  t.is((await client.put(`/lives/${live.id}/finish`)).status, 200)
  t.is((await client.post('/tokens', { name: 'mine' })).status, 200)
  t.is((await client.get<Listing<LiveJson>>('/lives/')).body.data[0]?.id, live.id)
}
