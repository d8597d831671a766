import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { openKeyring } from '../../../infrastructure/keys/keyring.ts'
import type { KeyStorage } from '../../../infrastructure/keys/keyring.ts'
import { openSqliteKeyring, openSqliteKeyringReader } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { right } from '../event-store-support.ts'
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

test('an erasure whose older pages a reader still holds is not called done, and is once it has gone', async (t) => {
  const { path, file, keyring } = await startKeyring(t)
  await sealText(keyring, 'user-1')
  const reader = new DatabaseSync(file, { readOnly: true })
  t.teardown(() => { if (reader.isOpen) reader.close() })
  reader.exec('BEGIN')
  const wrapped = Buffer.from(
    reader.prepare("SELECT wrapped FROM keys WHERE name = 'user-1'").get()?.['wrapped'] as Uint8Array,
  )
  t.like(await keyring.erase(['user-1'])(), { left: { _tag: 'KeyringUnavailable' } })
  t.deepEqual(
    await sealText(keyring, 'user-1'),
    E.left({ _tag: 'KeyErased', key: 'user-1' }),
    'erased it is all the same',
  )
  reader.close()
  await right(keyring.erase(['user-1']))
  const files = await Promise.all((await readdir(path)).map((name) => readFile(join(path, name))))
  t.deepEqual(files.filter((content) => content.includes(wrapped)), [])
})

/** A storage in memory that counts what it is asked for. */
const countingStorage = () => {
  const stored = new Map<string, Uint8Array | null>()
  const asked: Array<string> = []
  const storage: KeyStorage = {
    ensure: async (name, wrapped) => {
      asked.push(name)
      if (!stored.has(name)) stored.set(name, wrapped)
      return E.right(stored.get(name) ?? null)
    },
    find: async (names) => {
      asked.push(...names)
      return E.right(new Map(names.flatMap((name) => (stored.has(name) ? [[name, stored.get(name) ?? null]] : []))))
    },
    erase: async (names) => {
      for (const name of names) stored.set(name, null)
      return E.right(undefined)
    },
    close: () => Promise.resolve(),
  }
  return { storage, asked }
}

test('ten thousand keys stay in memory, those used last; for the others the storage is asked again', async (t) => {
  const { storage, asked } = countingStorage()
  const keyring = await openKeyring(storage, randomBytes(32))
  const use = async (n: number) => {
    const sealed = await sealText(keyring, `live-${n}`)
    if (E.isLeft(sealed)) throw new Error('not sealed')
    return sealed.right
  }
  for (let n = 1; n <= 10_000; n += 1) await use(n)
  asked.length = 0
  t.deepEqual(await openTexts(keyring, await use(1)), ['a text'])
  t.deepEqual(asked, [], 'all of them are there, the first one now used last')
  await use(10_001)
  await use(1)
  t.deepEqual(asked, ['live-10001'])
  await use(2)
  t.deepEqual(asked, ['live-10001', 'live-2'], 'the one that was longest unused has gone, and no other')
})

test('a keyring that is only read makes no key and says so, and opens what is there', async (t) => {
  const { file, masterKey, keyring } = await startKeyring(t)
  const sealed = await sealText(keyring, 'user-1', 'Alice')
  const envelopes = E.isRight(sealed) ? sealed.right : []
  const reader = await openSqliteKeyringReader({ file, masterKey })
  t.teardown(reader.close)
  t.deepEqual(await openTexts(reader, envelopes), ['Alice'])
  t.like(await sealText(reader, 'user-2', 'Bob'), { left: { _tag: 'KeyringUnavailable' } }, 'and not as erased')
  t.like(await reader.erase(['user-1'])(), { left: { _tag: 'KeyringUnavailable' } })
  t.deepEqual(await openTexts(keyring, envelopes), ['Alice'])
})
