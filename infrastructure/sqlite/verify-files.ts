import { decrypt, IV_BYTES } from '../envelope.ts'
import { deriveKey } from '../master-key.ts'
import { isSqliteError, openForReading } from './database.ts'

/** What SQLite itself says against a file: broken pages, indexes that do not fit their tables. None: it is sound. */
export const verifyFile = (file: string): ReadonlyArray<string> => {
  const database = openForReading(file)
  try {
    const rows = database.prepare('PRAGMA integrity_check(20)').all() as unknown as ReadonlyArray<{ readonly integrity_check: string }>
    return rows.map((row) => row.integrity_check).filter((text) => text !== 'ok')
  } catch (error) {
    if (isSqliteError(error)) return [error.message]
    throw error
  } finally {
    database.close()
  }
}

/** Keys that the master key does not open, by name; erased ones that are still there count too. */
export const verifyKeys = (
  file: string,
  masterKey: Uint8Array,
): { readonly keys: number; readonly problems: ReadonlyArray<{ readonly name: string; readonly problem: string }> } => {
  const wrappingKey = deriveKey(masterKey, 'keyring')
  const database = openForReading(file)
  try {
    const rows = database.prepare('SELECT name, wrapped, name IN (SELECT name FROM erased) AS erased FROM keys ORDER BY name').all()
    const problems = (rows as unknown as ReadonlyArray<{ readonly name: string; readonly wrapped: Uint8Array; readonly erased: number }>).flatMap(
      ({ name, wrapped, erased }) => {
        if (erased !== 0) return [{ name, problem: 'was erased and is there' }]
        try {
          decrypt(wrappingKey, name, wrapped.subarray(0, IV_BYTES), wrapped.subarray(IV_BYTES)).fill(0)
          return []
        } catch {
          return [{ name, problem: 'is not what was wrapped by this master key' }]
        }
      },
    )
    return { keys: rows.length, problems }
  } finally {
    database.close()
  }
}
