import { chmod, copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { loadOrCreateMasterKey } from '../../../infrastructure/keys/master-key.ts'
import { openSqliteDocuments } from '../../../infrastructure/sqlite/documents/documents.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { openSqliteKeyring } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { databasesNotOn, readManifest } from '../../../interfaces/cli/stores/backup-manifest.ts'
import { readUndamaged } from '../../../application/log/read-undamaged.ts'
import { newEvents, right } from '../../contract/event-store-support.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { sealText } from '../../support/events/sealed-texts.ts'

/** Creates the data directory of a stopped service: five events of a session and the keys of two users. */
const startData = async (t: ExecutionContext) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const pathOf = (name: string): string => join(path, name)
  const masterKey = await loadOrCreateMasterKey(pathOf('master.key'))
  const openKeyring = async () => {
    const keyring = await openSqliteKeyring({ file: pathOf('keyring.sqlite'), masterKey })
    t.teardown(keyring.close)
    return keyring
  }
  const store = await openSqliteEventStore({ file: pathOf('events.sqlite') })
  t.teardown(store.close)
  const documents = await openSqliteDocuments({ file: pathOf('documents.sqlite') })
  await documents.close()
  await right(store.append('live-1', 'no-stream', newEvents(5)))
  const keyring = await openKeyring()
  for (const user of ['user-1', 'user-2']) await sealText(keyring, user)
  await keyring.close()
  return { path, pathOf, store, openKeyring }
}

const damage = (file: string, sql: string): void => {
  const database = new DatabaseSync(file, { timeout: 5000 })
  database.exec(sql)
  database.close()
}

test('a usage error exits with 2 and the next step, and help exits with 0', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [nothing, unknown, help, replayHelp, refused] = await Promise.all(
    [[], ['nonsense'], ['--help'], ['replay', '--help'], ['replay', 'one']].map((args) => stenolog(path, args)),
  )
  t.deepEqual([nothing?.code, unknown?.code, help?.code, replayHelp?.code, refused?.code], [2, 2, 0, 0, 2])
  t.regex(unknown?.stderr ?? '', /^error: Unknown command "nonsense"\.\nhint: .*--help\n$/)
  t.is(unknown?.stdout, '')
  t.regex(help?.stdout ?? '', /\nUsage\n[^]*\n  restore /)
  t.regex(replayHelp?.stdout ?? '', /^stenolog replay: [^]*\nUsage\n {2}stenolog replay SESSION /)
  t.is(
    refused?.stderr,
    'error: SESSION should be a number such as 7, but is "one".\nhint: npm run stenolog -- replay --help\n',
  )
})

test('a backup is complete and private to its owner, and restore refuses to overwrite used data', async (t) => {
  const { path, pathOf, store, openKeyring } = await startData(t)
  const backup = pathOf('backup')
  const backedUp = await stenolog(path, ['backup', backup])
  t.is(backedUp.code, 0, backedUp.stderr)
  t.regex(backedUp.stdout, /^5 rows of the log/)
  const files = ['backup.json', 'documents.sqlite', 'events.sqlite', 'keyring.sqlite', 'master.key']
  t.deepEqual((await readdir(backup)).toSorted(), files)
  for (const name of ['.', ...files]) t.is((await stat(join(backup, name))).mode & 0o077, 0, name)
  t.like(await readManifest(backup), { format: 2, rows: 5 })

  await right(store.append('live-1', 4, newEvents(1).map((event) => ({ ...event, type: 'LiveStarted' }))))
  await store.close()
  const keyring = await openKeyring()
  await right(keyring.erase(['user-1']))
  await keyring.close()
  const refused = await stenolog(path, ['restore', backup])
  t.is(refused.code, 1)
  t.regex(
    refused.stderr,
    /^error: .* is not empty\. Back it up, then add --replace\.\nhint: npm run stenolog -- backup /,
  )
  const restored = await stenolog(path, ['restore', backup, '--replace'])
  t.is(restored.code, 0, restored.stderr)
  t.regex(restored.stdout, /^1 keys that were erased after the backup were erased again$/m)
  t.deepEqual((await readdir(path)).filter((name) => name.includes('restor')), [], 'no partial restore remains')
  const restoredStore = await openSqliteEventStore({ file: pathOf('events.sqlite') })
  t.teardown(restoredStore.close)
  t.is((await right(restoredStore.read('live-1'))).length, 5)
  const keys = await openKeyring()
  t.deepEqual(await sealText(keys, 'user-1'), E.left({ _tag: 'KeyErased', key: 'user-1' }))
  t.true(E.isRight(await sealText(keys, 'user-2')))
})

test('what others may do with a copy of a backup is not taken over by backup and restore', async (t) => {
  const { path, pathOf, store } = await startData(t)
  await store.close()
  for (const name of await readdir(path)) await chmod(pathOf(name), 0o644)
  const backup = pathOf('backup')
  await mkdir(backup, { mode: 0o755 })
  t.is((await stenolog(path, ['backup', backup])).code, 0)
  const files = await readdir(backup)
  for (const name of files) t.is((await stat(join(backup, name))).mode & 0o777, 0o600, name)

  for (const name of files) await chmod(join(backup, name), 0o644)
  await writeFile(pathOf('master.key.restoring'), 'left by an interrupted restore', { mode: 0o644 })
  await chmod(path, 0o755)
  const restored = await stenolog(path, ['restore', backup, '--replace'])
  t.is(restored.code, 0, restored.stderr)
  t.is((await stat(path)).mode & 0o777, 0o700)
  for (const name of ['documents.sqlite', 'events.sqlite', 'keyring.sqlite', 'master.key'])
    t.is((await stat(pathOf(name))).mode & 0o777, 0o600, name)
})

test('a backup copies the lists first and the keys last, so nothing in it lacks its event or its key', (t) => {
  t.deepEqual(databasesNotOn([]), ['documents.sqlite', 'events.sqlite', 'keyring.sqlite'])
  t.deepEqual(databasesNotOn(['EventStoreDB']), ['documents.sqlite', 'keyring.sqlite'])
})

test('a backup with a different master key is not restored', async (t) => {
  const [source, target] = [await startData(t), await startData(t)]
  t.is((await stenolog(source.path, ['backup', source.pathOf('backup'), '--without-key'])).code, 0)
  const run = await stenolog(target.path, ['restore', source.pathOf('backup'), '--replace'])
  t.is(run.code, 1)
  t.regex(run.stderr, /does not belong to the backup: it cannot open 3 keys/)
})

test('the backup of a damaged log is written, and the command reports the damage', async (t) => {
  const { path, pathOf } = await startData(t)
  damage(pathOf('events.sqlite'), "UPDATE events SET type = 'Other' WHERE pos = 4")
  const run = await stenolog(path, ['backup', pathOf('backup')])
  t.is(run.code, 1)
  t.regex(run.stderr, /the log is damaged at position 0*4:/)
  t.like(await readManifest(pathOf('backup')), { rows: 3 })
})

test('an incomplete, changed or newer backup is refused', async (t) => {
  const { path, pathOf } = await startData(t)
  const backup = pathOf('backup')
  t.is((await stenolog(path, ['backup', backup])).code, 0)
  const manifest = join(backup, 'backup.json')
  const whole = await readFile(manifest, 'utf8')
  const { version, files } = JSON.parse(whole) as {
    readonly version: string
    readonly files: Readonly<Record<string, string>>
  }
  const refusedWith = async (members: object, message: RegExp): Promise<void> => {
    await writeFile(manifest, JSON.stringify({ ...(JSON.parse(whole) as object), ...members }))
    await t.throwsAsync(readManifest(backup), { message })
  }
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const newer = [`${major + 1}.0.0`, `${major}.${minor + 1}.0`, `${major}.${minor}.${patch + 1}`]
  for (const newerVersion of newer)
    await refusedWith({ version: newerVersion }, new RegExp(`made by version ${newerVersion.replaceAll('.', '\\.')}`))
  await refusedWith({ files: 3 }, /backup\.json is cut off or changed/)
  await refusedWith({ format: 3 }, /has format 3, but .* reads formats up to 2\. Use the build that made the backup/)
  for (const name of ['documents.sqlite', 'events.sqlite', 'keyring.sqlite']) {
    const others = Object.fromEntries(Object.entries(files).filter(([file]) => file !== name))
    await refusedWith({ files: others }, /is incomplete: \w+\.sqlite is missing/)
  }
  await refusedWith({ files: { ...files, 'more.sqlite': 'x' } }, /is incomplete: more\.sqlite is missing/)
  await writeFile(manifest, whole)
  await copyFile(manifest, join(backup, 'keyring.sqlite'))
  await t.throwsAsync(readManifest(backup), { message: /damaged: keyring\.sqlite was changed/ })
  await t.throwsAsync(readManifest(path), { message: /not a complete backup: backup\.json is missing/ })
})

test('after an interrupted restore, commands refuse the data and doctor names it', async (t) => {
  const { path, pathOf, store } = await startData(t)
  await store.close()
  await writeFile(pathOf('restore.unfinished'), '')
  for (const args of [['backup', pathOf('backup')], ['check']]) {
    const run = await stenolog(path, args)
    t.is(run.code, 1)
    t.regex(run.stderr, /^error: a restore into .* was not finished: run it again, with --replace$/im, args.join(' '))
  }
  t.regex((await stenolog(path, ['doctor'])).stdout, /data directory +WRONG +.*a restore into .* was not finished/)
})

test('a log or keyring that has lost its identity is damaged, not of another service', async (t) => {
  const { path, pathOf, store } = await startData(t)
  const backup = pathOf('backup')
  t.is((await stenolog(path, ['backup', backup])).code, 0)
  await store.close()
  for (const [file, sql] of [
    ['keyring.sqlite', "DELETE FROM keys WHERE name = 'keyring-probe'"],
    ['events.sqlite', "UPDATE events SET hash = x'00' WHERE pos = 1"],
  ] as const) {
    damage(pathOf(file), sql)
    const refused = await stenolog(path, ['restore', backup, '--replace'])
    t.is(refused.code, 1)
    t.true(refused.stderr.includes(`${file} cannot be read: its `), refused.stderr)
    t.is((await stenolog(path, ['restore', backup, '--replace', '--skip-unreadable'])).code, 0)
  }
})

test('a damaged list of deletions is named', async (t) => {
  const { path, pathOf, store } = await startData(t)
  const backup = pathOf('backup')
  t.is((await stenolog(path, ['backup', backup])).code, 0)
  await store.close()
  for (const content of ['[', '{}']) {
    await writeFile(pathOf('erase-again.json'), content)
    const refused = await stenolog(path, ['restore', backup, '--replace'])
    t.is(refused.code, 1)
    t.regex(refused.stderr, /erase-again\.json is cut off or changed/)
  }
})

test('the other events of a stream with a damaged event are read, and the lost event is named', async (t) => {
  const { path, pathOf, store } = await startData(t)
  damage(pathOf('events.sqlite'), "UPDATE events SET type = 'Other' WHERE pos = 3")
  const { events, lost } = await right(readUndamaged(store, 'live-1'))
  t.deepEqual(events.map(({ revision }) => revision), [0, 1, 3, 4])
  t.like(lost, [{ stream: 'live-1', revision: 2 }])
  let reads = 0
  const unavailable: Pick<EventStore, 'read'> = {
    read: async () => {
      reads += 1
      return E.left({ _tag: 'StoreUnavailable', reason: 'unavailable' })
    },
  }
  t.deepEqual(await readUndamaged(unavailable, 'live-1'), E.left({ _tag: 'StoreUnavailable', reason: 'unavailable' }))
  t.is(reads, 1, 'an unavailable store is not read again for each event')
  const exported = await stenolog(path, ['export', '1'])
  t.is(exported.code, 1)
  t.regex(exported.stderr, /^error: revision 2 of live-1 cannot be read/)
  t.is((JSON.parse(exported.stdout) as { readonly events: ReadonlyArray<unknown> }).events.length, 4)
})
