import * as E from 'fp-ts/lib/Either.js'
import type { Keyring } from '../../../application/ports/keyring.ts'
import { type KeyStorage, openKeyring, readOnlyStorage, type StoredKey } from '../../keys/keyring.ts'
import { isSqliteError, openForReading } from '../database.ts'
import type { KeyringAnswer, KeyringJob } from './keyring-worker.ts'
import { openWriter } from '../writer.ts'

const openStorageForReading = (file: string): Pick<KeyStorage, 'find' | 'close'> => {
  const database = openForReading(file)
  const select = database.prepare('SELECT wrapped FROM keys WHERE name = ?')
  const selectErased = database.prepare('SELECT 1 FROM erased WHERE name = ?')

  /** Undefined: the key was never created. */
  const stored = (name: string): StoredKey | undefined => {
    const row = select.get(name) as { readonly wrapped: Uint8Array } | undefined
    return row?.wrapped ?? (selectErased.get(name) === undefined ? undefined : null)
  }

  return {
    find: async (names) => {
      try {
        return E.right(new Map(names.flatMap((name): ReadonlyArray<[string, StoredKey]> => {
          const key = stored(name)
          return key === undefined ? [] : [[name, key]]
        })))
      } catch (error) {
        if (isSqliteError(error)) return E.left(error.message)
        throw error
      }
    },
    close: async () => {
      if (database.isOpen) database.close()
    },
  }
}

interface KeyringOptions {
  readonly file: string
  readonly masterKey: Uint8Array
}

/** Opens the embedded keyring read-only, also next to the process that writes it. */
export const openSqliteKeyringReader = async ({ file, masterKey }: KeyringOptions): Promise<Keyring> =>
  await openKeyring(readOnlyStorage(openStorageForReading(file)), masterKey)

/**
 * Opens the embedded keyring: one SQLite file of wrapped keys. A worker thread writes it, the calling thread reads it.
 * Rejects when another master key wrapped the keys.
 */
export const openSqliteKeyring = async ({ file, masterKey }: KeyringOptions): Promise<Keyring> => {
  const writer = await openWriter<KeyringJob, KeyringAnswer>(new URL('./keyring-worker.ts', import.meta.url), { file })
  const reader = openStorageForReading(file)
  const storage: KeyStorage = {
    ensure: async (name, wrapped) => {
      const answer = await writer.submit({ kind: 'ensure', name, wrapped })
      return E.map(({ wrapped: stored }: KeyringAnswer) => stored)(answer)
    },
    find: reader.find,
    erase: async (names) => E.map(() => undefined)(await writer.submit({ kind: 'erase', names })),
    close: async () => {
      // The connection that is closed last merges the write-ahead file. Only the writer can merge it, so it is last.
      await reader.close()
      await writer.close()
    },
  }
  return await openKeyring(storage, masterKey)
}
