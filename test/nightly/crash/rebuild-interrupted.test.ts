import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { CHILD_ENVIRONMENT } from '../../support/tools/child-environment.ts'
import type { NewEvent } from '../../../application/ports/event-store.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { right } from '../../support/tools/right.ts'
import { sealedLive } from '../../support/events/stored-events.ts'
import { startTestService, type TestService } from '../../support/service/service.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'

/** Number of sessions. A rebuild folds their events in more than three batches. */
const LIVES = 4000

const MAIN = join(import.meta.dirname, '..', '..', '..', 'interfaces', 'cli', 'main.ts')

const fill = async (directory: string): Promise<void> => {
  const environment = createTestEnvironment()
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }
  const event = ({ type, data }: { readonly type: string; readonly data: object }): NewEvent => ({
    id: environment.newId(),
    type,
    data: { ...data },
    metadata,
  })
  const store = await openSqliteEventStore({ file: join(directory, 'events.sqlite') })
  await Promise.all(
    Array.from({ length: LIVES }, async (_, n) => {
      const about = { liveId: n + 1, userId: 1, at: environment.now() }
      const ended = { type: 'LiveFinished', data: { ...about, reason: 'restart' } }
      right(await store.append(`live-${n + 1}`, 'no-stream', [event(sealedLive(about)), event(ended)]))
    }),
  )
  await store.close()
}

/** Waits for the first staged documents of a rebuild, then locks the read models. Returns a function to unlock them. */
const lockHalfBuilt = async (t: ExecutionContext, directory: string): Promise<() => void> => {
  const database = new DatabaseSync(join(directory, 'documents.sqlite'), { timeout: 10_000 })
  const release = (): void => {
    if (database.isOpen) database.close()
  }
  t.teardown(release)
  await eventually(async () => {
    database.exec('BEGIN IMMEDIATE')
    if (database.prepare("SELECT 1 FROM checkpoints WHERE projection = 'lives-staged'").get() !== undefined) return
    database.exec('ROLLBACK')
    await setImmediate()
    throw new Error('the rebuild has not staged documents yet')
  })
  return release
}

const filledService = async (t: ExecutionContext): Promise<TestService> => {
  const service = await startTestService(t)
  await service.kill('SIGTERM')
  await fill(service.dataDirectory)
  return service
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const)
  test(`the next start of the service finishes a rebuild interrupted by ${signal}`, async (t) => {
    const service = await filledService(t)
    await service.start()
    const command = stenolog(service.dataDirectory, ['rebuild', 'lives'])
    const release = await lockHalfBuilt(t, service.dataDirectory)
    await eventually(() => assert.match(service.log(), /rebuild waits for a store/))
    await service.kill(signal)
    release()
    const { code, stderr } = await command
    t.is(code, 1)
    t.regex(
      stderr,
      /lives: not rebuilt: the connection to the service was lost; the next start of the service continues the rebuild/,
    )
    await service.start()
    const line = await eventually(() => {
      const found = service.log().split('\n').find((text) => text.includes('rebuild finished'))
      assert.ok(found !== undefined)
      return found
    })
    const { events, resumed, corrected } = JSON.parse(line) as Readonly<Record<string, unknown>>
    t.deepEqual({ resumed, corrected }, { resumed: true, corrected: 0 })
    t.true(Number(events) > 0 && Number(events) < 2 * LIVES, `${String(events)} events were folded`)
  })

test('a rebuild without a service waits for a locked file, and the next run resumes a killed rebuild', async (t) => {
  const { dataDirectory } = await filledService(t)
  const killed = spawn(process.execPath, [MAIN, 'rebuild', 'lives'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...CHILD_ENVIRONMENT, STENOLOG_DATA_DIR: dataDirectory },
  })
  const exited = new Promise((resolve) => killed.once('exit', resolve))
  t.teardown(() => killed.kill('SIGKILL'))
  let output = ''
  killed.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const release = await lockHalfBuilt(t, dataDirectory)
  await eventually(() => assert.match(output, /^lives: waiting: .*locked/m))
  killed.kill('SIGKILL')
  await exited
  release()
  const { stdout, stderr } = await stenolog(dataDirectory, ['rebuild', 'lives', '--json'])
  const { events, resumed } = JSON.parse(stdout) as Readonly<Record<string, unknown>>
  t.true(resumed, stderr)
  t.true(Number(events) > 0 && Number(events) < 2 * LIVES, `${String(events)} events were folded`)
})
