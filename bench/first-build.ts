import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { v7 } from 'uuid'
import { embeddedLeases } from '../infrastructure/embedded-members.ts'
import { connectMongo } from '../infrastructure/mongodb/connection.ts'
import { createMongoDocuments } from '../infrastructure/mongodb/documents.ts'
import { createEnvironment } from '../infrastructure/process/clock-and-ids.ts'
import { systemTimers as timers } from '../infrastructure/process/system-timers.ts'
import { openSqliteEventStore } from '../infrastructure/sqlite/event-log/event-store.ts'
import { allProjections } from '../projections/all-projections.ts'
import { startProjector } from '../projections/projector.ts'
import { startTestMongo, withDatabase } from '../test/support/stores/mongodb.ts'
import type { Benchmark, Round } from './harness.ts'
import { EVENTS_PER_LIVE, fillWithLives } from './log-of-lives.ts'

const SESSIONS = 100_000
const EVENTS = SESSIONS * EVENTS_PER_LIVE
/** The targets: events a second for all lists together, and microseconds of this process for each event. */
const EVENTS_PER_SECOND = 5000
const MICROSECONDS_PER_EVENT = 80

const silent = { info: () => undefined, warn: console.error, error: console.error, debug: () => undefined }

const firstBuild = (name: string, basis: 'wall' | 'cpu', peer: string): Benchmark => ({
  name,
  meaning: `builds all ${allProjections.length} lists in an empty MongoDB from ${EVENTS} events of ${SESSIONS} `
    + 'sessions in the embedded log. MongoDB is the double of the tests, or the server of STENOLOG_TEST_MONGO_URL',
  peer,
  unit: 'events',
  basis,
  atLeast: 1,
  rounds: 3,
  warmUp: false,
  prepare: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
    const store = await openSqliteEventStore({ file: join(directory, 'events.sqlite') })
    await fillWithLives(store, SESSIONS)
    const mongo = await startTestMongo()
    const build = async (): Promise<Round> => {
      const connection = await connectMongo(withDatabase(mongo.url, `stenolog_test_${v7().replaceAll('-', '')}`))
      const stopping = new AbortController()
      const [began, cpu] = [performance.now(), process.cpuUsage()]
      const projector = startProjector({
        store, documents: createMongoDocuments(connection), projections: allProjections, code: 'bench',
        leases: { isAlone: true, hold: embeddedLeases({ name: 'bench', incarnation: 'one' }).hold },
        environment: createEnvironment(), timers, logger: silent, signal: stopping.signal,
      })
      await projector.caughtUp()
      const [seconds, { user, system }] = [(performance.now() - began) / 1000, process.cpuUsage(cpu)]
      const late = projector.lag().filter(({ error, failures }) => error !== null || failures > 0)
      stopping.abort()
      await projector.stopped
      await Promise.all([connection.readModels.dropDatabase(), connection.keyring.dropDatabase()])
      await connection.close()
      if (late.length > 0) throw new Error(`lists failed: ${JSON.stringify(late)}`)
      return { work: EVENTS, seconds, cpuSeconds: (user + system) / 1e6 }
    }
    return {
      ours: build,
      peers: async () =>
        ({ work: EVENTS, seconds: EVENTS / EVENTS_PER_SECOND, cpuSeconds: (EVENTS * MICROSECONDS_PER_EVENT) / 1e6 }),
      close: async () => {
        await store.close()
        await mongo.dispose()
        await rm(directory, { recursive: true, force: true })
      },
    }
  },
})

export const firstBuilds: ReadonlyArray<Benchmark> = [
  firstBuild('first-build', 'wall', `the target of ${EVENTS_PER_SECOND} events a second for all lists together`),
  firstBuild('first-build-cpu', 'cpu', `the target of ${MICROSECONDS_PER_EVENT} µs of the projector an event`),
]
