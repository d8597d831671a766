import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EventStoreDBClient } from '@eventstore/db-client'
import test from 'ava'
import { MongoClient } from 'mongodb'
import { FORMAT } from '../../../infrastructure/store-rules/format.ts'
import { logIn, type Listing, type LiveJson } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { launch } from '../../support/service/launch.ts'
import { DURABLE, startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { passwordOf, prefixed, startTestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

interface Mark {
  readonly _id: string
  readonly format: number
  readonly release?: number
}

test('newer data on EventStoreDB or MongoDB stops the service and every command', async (t) => {
  t.timeout(600_000)
  const keys = await temporaryDirectory()
  t.teardown(keys.remove)
  const keyFile = join(keys.path, 'master.key')
  await writeFile(keyFile, randomBytes(32))
  const [log, lists] = [await startEventStoreDb(), await startMongoDouble()]
  t.teardown(log.dispose)
  t.teardown(lists.dispose)
  const settings = { EVENTSTORE_URL: log.url, MONGO_URL: lists.url('stenolog'), MASTER_KEY_FILE: keyFile }
  const service = await startTestService(t, settings)
  const ada = await eventually(() => service.user('ada'))
  const live = await ada.createLive()
  await ada.put(`/lives/${live.id}/finish`)
  await service.kill()

  const events = EventStoreDBClient.connectionString(log.url)
  t.teardown(() => events.dispose())
  const databases = await MongoClient.connect(settings.MONGO_URL, DURABLE)
  t.teardown(() => databases.close())
  const marksOf = (name: string) => databases.db(name).collection<Mark>('format')
  const markIn = (name: string) => ({
    read: async (): Promise<unknown> => (await marksOf(name).findOne({ _id: 'stenolog' }))?.format,
    write: async (format: number): Promise<unknown> =>
      marksOf(name).updateOne({ _id: 'stenolog' }, { $set: { format, release: 9_008_007 } }),
    // Data of early versions has no mark.
    remove: async (): Promise<unknown> => marksOf(name).drop(),
  })
  const marks = {
    'the log of the event store': {
      read: async (): Promise<unknown> =>
        (await events.getStreamMetadata<{ format?: number }>('stenolog')).metadata?.format,
      write: (format: number): Promise<unknown> => events.setStreamMetadata('stenolog', { format, release: 9_008_007 }),
      remove: (): Promise<unknown> => events.setStreamMetadata('stenolog', {}),
    },
    'the database stenolog of MongoDB': markIn('stenolog'),
    'the database stenolog_keyring of MongoDB': markIn('stenolog_keyring'),
  }
  const endOfLog = async (): Promise<unknown> => {
    let last: unknown
    // Reads to the end, because an abandoned call would keep the client open.
    for await (const { event } of events.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 1 }))
      last = event?.position
    return last
  }

  for (const [store, mark] of Object.entries(marks)) {
    t.is(await mark.read(), FORMAT, store)
    await mark.write(FORMAT + 1)
    const before = await endOfLog()
    const formats = `(format ${FORMAT + 1}; this version reads formats up to ${FORMAT})`
    const advice = 'use version 9.8.7 or a later version, or restore a backup that this version can read'
    const message = `${store} was written by a newer version of Stenolog ${formats}: ${advice}`
    const newer = launch(t, prefixed({ DATA_DIR: service.dataDirectory, PORT: '0', ...settings }))
    t.is(await newer.exited, 1, store)
    t.true(newer.stderr().endsWith(`Stenolog cannot start: ${message}\n`), newer.stderr())
    t.is(newer.stdout(), '')
    for (const args of [['check'], ['replay', '1'], ['users', 'list']]) {
      const tool = await stenolog(service.dataDirectory, args, settings)
      t.is(tool.code, 1, `${store}: ${args[0]}`)
      t.true((tool.stdout + tool.stderr).includes(message), `${args[0]}: ${tool.stdout}${tool.stderr}`)
    }
    t.deepEqual(await endOfLog(), before)
    t.is(await mark.read(), FORMAT + 1)
    await mark.write(1)
  }

  for (const { remove } of Object.values(marks)) await remove()
  await service.start()
  const again = await eventually(() => logIn(service.url(), 'ada', passwordOf('ada')))
  t.like((await again.get<Listing<LiveJson>>('/lives/')).body.data, [{ id: live.id, status: 'finished' }])
  for (const [store, { read }] of Object.entries(marks)) t.is(await read(), FORMAT, store)
  const rebuilt = await stenolog(service.dataDirectory, ['rebuild', 'lives', '--json'], settings)
  t.is(rebuilt.code, 0, rebuilt.stderr)
  t.like((await again.get<Listing<LiveJson>>('/lives/')).body.data, [{ id: live.id, status: 'finished' }])
  const checked = await stenolog(service.dataDirectory, ['check'], settings)
  t.is(checked.code, 0, checked.stdout + checked.stderr)
})
