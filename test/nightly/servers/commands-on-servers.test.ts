import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { MongoClient } from 'mongodb'
import { eventually } from '../../support/tools/eventually.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { DURABLE, startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { startTestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

interface Stored {
  readonly _id: string
  readonly base?: string
  readonly version?: number
  readonly [member: string]: unknown
}

test('check, replay, export and rebuild work on servers, and backup and restore are refused', async (t) => {
  const keys = await temporaryDirectory()
  t.teardown(keys.remove)
  const keyFile = join(keys.path, 'master.key')
  await writeFile(keyFile, randomBytes(32))
  const [log, lists] = [await startEventStoreDb(), await startMongoDouble()]
  t.teardown(log.dispose)
  t.teardown(lists.dispose)
  const settings = { EVENTSTORE_URL: log.url, MONGO_URL: lists.url('stenolog'), MASTER_KEY_FILE: keyFile }
  const service = await startTestService(t, settings)
  const run = (...args: ReadonlyArray<string>) => stenolog(service.dataDirectory, args, settings)
  const ada = await eventually(() => service.user('ada'))
  const live = await ada.createLive()
  await ada.put(`/lives/${live.id}/finish`)
  await ada.createLive()

  const client = await MongoClient.connect(settings.MONGO_URL, DURABLE)
  t.teardown(() => client.close())
  /** Reads the document that names the current collection of the read model. */
  const pointer = () => client.db('stenolog').collection<Stored>('collections').findOne({ _id: 'lives' })
  const corrupt = async (): Promise<void> => {
    const current = await pointer()
    const collection = client.db('stenolog').collection<Stored>(`${current?.base ?? 'lives'}_v${current?.version}`)
    const stored = await collection.findOne({ _id: '1' })
    await collection.replaceOne(
      { _id: '1' },
      { ...stored, body: { ...(stored?.['body'] as object), status: 'active' } },
    )
  }

  const inspect = async (): Promise<void> => {
    const clean = await run('check')
    t.is(clean.code, 0, clean.stdout + clean.stderr)
    t.regex(clean.stdout, /^hash chain {4}ok {5}none: EventStoreDB has no hash chain$/m)
    t.regex(clean.stdout, /^keys {10}ok {5}[1-9]\d* keys$/m)
    await corrupt()
    const wrong = await run('check')
    t.is(wrong.code, 1)
    t.regex(wrong.stdout, /^ {2}lives 1: does not agree with the log$/m)
    const rebuilt = await run('rebuild', 'lives', '--json')
    t.is(rebuilt.code, 0, rebuilt.stderr)
    t.like(JSON.parse(rebuilt.stdout), { projection: 'lives', corrected: 1 })
    const again = await run('check')
    t.is(again.code, 0, again.stdout)
    t.regex((await run('replay', '1')).stdout, /LiveFinished/)
    t.like(JSON.parse((await run('export', '1')).stdout), { live: 1, lost: [] })
    for (const command of ['backup', 'restore']) {
      const refused = await run(command, join(keys.path, 'backup'))
      t.is(refused.code, 1)
      t.regex(
        refused.stderr,
        /copies only the data directory, but these settings store all data in EventStoreDB and MongoDB\./,
      )
    }
  }
  await inspect()
  // The rebuilt read model receives new events.
  const third = await ada.createLive()
  await ada.put(`/lives/${third.id}/finish`)
  await ada.untilStatus(third, 'finished')
  await service.kill('SIGTERM')
  await inspect()
  await service.start()
  const again = await eventually(() => service.admin())
  t.is((await again.get('/health/ready')).status, 200)
})
