import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { openKeyring, type KeyStorage } from '../../../infrastructure/keys/keyring.ts'
import { openSqliteKeyring, openSqliteKeyringReader } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { right } from '../event-store-support.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { openTexts, sealText } from '../../support/events/sealed-texts.ts'

const startKeyring = async (t: ExecutionContext) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [file, masterKey] = [join(path, 'keyring.db'), randomBytes(32)]
  const keyring = await openSqliteKeyring({ file, masterKey })
  t.teardown(keyring.close)
  return { path, file, masterKey, keyring }
}

test('an erasure does not wait for a long read, and the key leaves the disk when the read ends', async (t) => {
  const { path, file, masterKey, keyring } = await startKeyring(t)
  const isOnDisk = async (bytes: Buffer): Promise<boolean> => {
    const files = await Promise.all((await readdir(path)).map((name) => readFile(join(path, name))))
    return files.some((content) => content.includes(bytes))
  }
  const erasedDuringRead = async (name: string): Promise<{ readonly key: Buffer; readonly endRead: () => void }> => {
    await sealText(keyring, name)
    const reader = new DatabaseSync(file, { readOnly: true })
    reader.exec('BEGIN')
    const row = reader.prepare('SELECT wrapped FROM keys WHERE name = ?').get(name)
    await right(keyring.erase([name]))
    t.deepEqual(await sealText(keyring, name), E.left({ _tag: 'KeyErased', key: name }))
    return { key: Buffer.from(row?.['wrapped'] as Uint8Array), endRead: () => reader.close() }
  }
  const first = await erasedDuringRead('user-1')
  t.true(await isOnDisk(first.key))
  first.endRead()
  await eventually(async () => {
    if (await isOnDisk(first.key)) throw new Error('the erased key is still on the disk')
  })

  const second = await erasedDuringRead('user-2')
  await keyring.close()
  second.endRead()
  t.true(await isOnDisk(second.key))
  const restarted = await openSqliteKeyring({ file, masterKey })
  t.teardown(restarted.close)
  t.false(await isOnDisk(second.key), 'a start removes what an earlier process could not')
})

/** Storage in memory that records the requested key names. */
const createCountingStorage = () => {
  const stored = new Map<string, Uint8Array | null>()
  const requested: Array<string> = []
  const storage: KeyStorage = {
    ensure: async (name, wrapped) => {
      requested.push(name)
      if (!stored.has(name)) stored.set(name, wrapped)
      return E.right(stored.get(name) ?? null)
    },
    find: async (names) => {
      requested.push(...names)
      return E.right(new Map(names.flatMap((name) => (stored.has(name) ? [[name, stored.get(name) ?? null]] : []))))
    },
    erase: async (names) => {
      for (const name of names) stored.set(name, null)
      return E.right(undefined)
    },
    close: () => Promise.resolve(),
  }
  return { storage, requested }
}

test('the ten thousand keys used last stay in memory; others are read from storage', async (t) => {
  const { storage, requested } = createCountingStorage()
  const keyring = await openKeyring(storage, randomBytes(32))
  const use = async (n: number) => {
    const sealed = await sealText(keyring, `live-${n}`)
    if (E.isLeft(sealed)) throw new Error('not sealed')
    return sealed.right
  }
  for (let n = 1; n <= 10_000; n += 1) await use(n)
  requested.length = 0
  t.deepEqual(await openTexts(keyring, await use(1)), ['a text'])
  t.deepEqual(requested, [], 'all keys are in memory; the first key is used last')
  await use(10_001)
  await use(1)
  t.deepEqual(requested, ['live-10001'])
  await use(2)
  t.deepEqual(requested, ['live-10001', 'live-2'], 'only the least recently used key has left the memory')
})

test('a read-only keyring creates no keys, says so, and opens existing envelopes', async (t) => {
  const { file, masterKey, keyring } = await startKeyring(t)
  const sealed = await sealText(keyring, 'user-1', 'Alice')
  const envelopes = E.isRight(sealed) ? sealed.right : []
  const reader = await openSqliteKeyringReader({ file, masterKey })
  t.teardown(reader.close)
  t.deepEqual(await openTexts(reader, envelopes), ['Alice'])
  t.like(
    await sealText(reader, 'user-2', 'Bob'),
    { left: { _tag: 'KeyringUnavailable' } },
    'the refusal is different from an erased key',
  )
  t.like(await reader.erase(['user-1']), { left: { _tag: 'KeyringUnavailable' } })
  t.deepEqual(await openTexts(keyring, envelopes), ['Alice'])
})
