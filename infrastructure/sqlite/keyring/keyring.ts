import * as E from 'fp-ts/lib/Either.js'
import type { Keyring } from '../../../application/ports/keyring.ts'
import { openKeyring, readOnlyStorage } from '../../keys/keyring.ts'
import type { KeyStorage, StoredKey } from '../../keys/keyring.ts'
import { isSqliteError, openForReading } from '../database.ts'
import type { KeyringAnswer, KeyringJob } from './keyring-worker.ts'
import { openWriter } from '../writer.ts'

const openStorageForReading = (file: string): Pick<KeyStorage, 'find' | 'close'> => {
  const database = openForReading(file)
  const select = database.prepare('SELECT wrapped FROM keys WHERE name = ?')
  const selectErased = database.prepare('SELECT 1 FROM erased WHERE name = ?')

  /** Undefined for a key that was never made. */
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

/** The embedded keyring for those who only read it, beside the process that writes it: it makes and erases no key. */
export const openSqliteKeyringReader = async ({ file, masterKey }: { readonly file: string; readonly masterKey: Uint8Array }): Promise<Keyring> =>
  await openKeyring(readOnlyStorage(openStorageForReading(file)), masterKey)

/**
 * The embedded keyring: one SQLite file of wrapped keys, written by one worker thread, read on the calling one.
 * Rejects when the master key is not the one that the file's keys are wrapped by.
 */
export const openSqliteKeyring = async ({ file, masterKey }: { readonly file: string; readonly masterKey: Uint8Array }): Promise<Keyring> => {
  const writer = await openWriter<KeyringJob, KeyringAnswer>(new URL('./keyring-worker.ts', import.meta.url), { file })
  const reader = openStorageForReading(file)
  const storage: KeyStorage = {
    ensure: async (name, wrapped) => E.map((answer: KeyringAnswer) => answer.wrapped)(await writer.submit({ kind: 'ensure', name, wrapped })),
    find: reader.find,
    erase: async (names) => E.map(() => undefined)(await writer.submit({ kind: 'erase', names })),
    close: async () => {
      // The writer last, as in the event store.
      await reader.close()
      await writer.close()
    },
  }
  return await openKeyring(storage, masterKey)
}
