import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { openKeyring, type KeyStorage } from '../../../infrastructure/keys/keyring.ts'
import { openSqliteKeyring } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { right } from '../event-store-support.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { sealedMembers, plainMembers } from '../../support/events/sealed-texts.ts'

/** Returns whether any file of the directory contains these bytes. */
const isOnDisk = async (directory: string, bytes: Buffer): Promise<boolean> => {
  const files = await Promise.all((await readdir(directory)).map((name) => readFile(join(directory, name))))
  return files.some((content) => content.includes(bytes))
}

test('keys and erasures survive a restart, and erased keys leave no byte on the disk', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'keyring.db')
  const masterKey = randomBytes(32)
  const first = await openSqliteKeyring({ file, masterKey })
  t.teardown(first.close)
  const [alice] = await right(first.seal('user-1', plainMembers(['Alice'])))
  const [bob] = await right(first.seal('user-2', plainMembers(['Bob'])))
  if (alice === undefined || bob === undefined) throw new Error('no envelopes')
  const database = new DatabaseSync(file, { readOnly: true })
  const row = database.prepare("SELECT wrapped FROM keys WHERE name = 'user-1'").get()
  const wrapped = Buffer.from(row?.['wrapped'] as Uint8Array)
  database.close()
  t.true(await isOnDisk(path, wrapped))
  await right(first.erase(['user-1']))
  t.false(await isOnDisk(path, wrapped))
  await first.close()

  const second = await openSqliteKeyring({ file, masterKey })
  t.teardown(second.close)
  t.deepEqual(await right(second.open(sealedMembers([alice, bob]))), [
    E.left({ _tag: 'KeyErased', key: 'user-1' }),
    E.right('Bob'),
  ])
  t.deepEqual(await second.seal('user-1', plainMembers(['Alice'])), E.left({ _tag: 'KeyErased', key: 'user-1' }))
})

test('a keyring does not open with another master key', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'keyring.db')
  const openAndClose = async (): Promise<void> =>
    (await openSqliteKeyring({ file, masterKey: randomBytes(32) })).close()
  await openAndClose()
  await t.throwsAsync(openAndClose, { message: /master key/ })
})

test('a cached key holds only its own bytes in memory', async (t) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const heldBytes = (): number => {
    collectGarbage()
    return process.memoryUsage().arrayBuffers
  }
  const { path, remove } = await temporaryDirectory()
  const keyring = await openSqliteKeyring({ file: join(path, 'keyring.db'), masterKey: randomBytes(32) })
  t.teardown(async () => {
    await keyring.close()
    await remove()
  })
  const before = heldBytes()
  const keys = 1000
  for (let i = 0; i < keys; i += 1) {
    await right(keyring.seal(`live-${i}`, plainMembers(['text'])))
    // Uses up the pool of small Buffers, as other work of a service does between two sessions.
    for (let size = 0; size < Buffer.poolSize; size += 1024) Buffer.from('x'.repeat(1024))
  }
  // Collected memory is released in the background.
  await eventually(() => {
    const taken = heldBytes() - before
    if (taken > keys * 1024) throw new Error(`${keys} keys hold ${taken} bytes`)
  })
  t.pass()
})

test('a read that finishes after the erasure of its key leaves no key in memory', async (t) => {
  const stored = new Map<string, Uint8Array | null>()
  let answer = (): Promise<void> => Promise.resolve()
  const storage: KeyStorage = {
    ensure: async (name, wrapped) => {
      const key = stored.get(name)
      if (key === undefined) stored.set(name, wrapped)
      await answer()
      return E.right(key === undefined ? wrapped : key)
    },
    find: async (names) => E.right(new Map(names.map((name) => [name, stored.get(name) ?? null]))),
    erase: async (names) => {
      for (const name of names) stored.set(name, null)
      return E.right(undefined)
    },
    close: () => Promise.resolve(),
  }
  const keyring = await openKeyring(storage, randomBytes(32))
  const delayed = Promise.withResolvers<void>()
  answer = () => delayed.promise
  const sealing = keyring.seal('user-1', plainMembers(['Alice']))
  await right(keyring.erase(['user-1']))
  delayed.resolve()
  const sealed = await sealing
  t.deepEqual(await right(keyring.open(sealedMembers(E.isRight(sealed) ? sealed.right : []))), [
    E.left({ _tag: 'KeyErased', key: 'user-1' }),
  ])
  t.deepEqual(await keyring.seal('user-1', plainMembers(['again'])), E.left({ _tag: 'KeyErased', key: 'user-1' }))
})
