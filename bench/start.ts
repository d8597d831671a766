import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { orThrow } from '../domain/shared/or-throw.ts'
import { openSqliteDocuments } from '../infrastructure/sqlite/documents/documents.ts'
import { EVENT_COLUMNS } from '../infrastructure/sqlite/event-log/event-row.ts'
import { openSqliteEventStore } from '../infrastructure/sqlite/event-log/event-store.ts'
import { startServiceProcess } from '../interfaces/cli/service-process.ts'
import { DUTIES } from '../interfaces/compose/restoring/discard-newer.ts'
import { timed } from './cpu-time.ts'
import type { Benchmark } from './harness.ts'
import { EVENTS_PER_LIVE, fillWithLives } from './log-of-lives.ts'
import { EVENTS_PER_USER, fillWithUsers } from './log-of-users.ts'

const EVENTS = 1_000_000
const USERS = 50_000
export const [USERNAME, PASSWORD] = ['root', 'bench password']
/** First id of the generated data, far above the ids that the service assigns. */
const FIRST_ID = 1_000_000

/** Returns the settings of a service on a free port whose first start creates an administrator. */
export const settingsFor = (directory: string) => ({
  STENOLOG_HOST: '127.0.0.1', STENOLOG_PORT: '0', STENOLOG_DATA_DIR: directory, STENOLOG_LOG_LEVEL: 'error',
  STENOLOG_ADMIN_USERNAME: USERNAME, STENOLOG_ADMIN_PASSWORD: PASSWORD, STENOLOG_DRAIN_TIMEOUT: '0s',
})

/** Waits until the service is ready. */
export const untilReady = async (url: string): Promise<void> => {
  while ((await fetch(`${url}/health/ready`)).status !== 200) await setTimeout(5)
}

/** Starts the process, calls `ready` when it is ready, and stops it. */
const startAndStop = async (directory: string, ready: () => void): Promise<void> => {
  const service = await startServiceProcess(settingsFor(directory))
  await untilReady(service.url)
  ready()
  await service.end('SIGTERM')
}

/**
 * Creates a log of users with API tokens and of ended sessions. Read models and duties have processed the whole log.
 */
const fill = async (directory: string): Promise<void> => {
  // The first start creates the stores and the administrator.
  await startAndStop(directory, () => undefined)
  const store = await openSqliteEventStore({ file: join(directory, 'events.sqlite') })
  await fillWithUsers(store, USERS, FIRST_ID)
  await fillWithLives(store, (EVENTS - USERS * EVENTS_PER_USER) / EVENTS_PER_LIVE, FIRST_ID)
  const position = orThrow(await store.head())
  await store.close()
  const documents = await openSqliteDocuments({ file: join(directory, 'documents.sqlite') })
  for (const duty of DUTIES)
    orThrow(await documents.commit({ projection: duty, collection: null }, [], { position, last: null }))
  await documents.close()
  await startAndStop(directory, () => undefined)
}

export const starts: ReadonlyArray<Benchmark> = [
  {
    name: 'start-million',
    meaning: `starts the service and waits until it is ready; its read models are complete; its log has ${EVENTS} `
      + `events: first those of ${USERS} users with an API token each, then those of sessions`,
    peer: 'plain node:sqlite in this process: reads every row of the same log once, in order',
    unit: 'events',
    basis: 'wall',
    atLeast: 1,
    rounds: 5,
    warmUp: true,
    prepare: async () => {
      const directory = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
      await fill(directory)
      return {
        ours: async () => {
          const { promise: isReady, resolve } = Promise.withResolvers<void>()
          const round = timed(EVENTS, () => isReady)
          await startAndStop(directory, resolve)
          return await round
        },
        peers: () =>
          timed(EVENTS, () => {
            const log = new DatabaseSync(join(directory, 'events.sqlite'), { readOnly: true })
            const rows = log.prepare(
              `SELECT ${EVENT_COLUMNS} FROM events e JOIN streams s ON s.sid = e.sid ORDER BY e.pos`,
            )
            let read = 0
            for (const _ of rows.iterate()) read += 1
            log.close()
            if (read < EVENTS) throw new Error(`${read} rows`)
          }),
        close: () => rm(directory, { recursive: true, force: true }),
      }
    },
  },
]
