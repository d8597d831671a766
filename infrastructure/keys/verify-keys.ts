import { decrypt, IV_BYTES } from './envelope.ts'
import { deriveKey } from './master-key.ts'

export interface KeyRow {
  readonly name: string
  /** Null: the stored value is not a key. */
  readonly wrapped: Uint8Array | null
  /** The list of erased keys names this key, so it should not exist. */
  readonly isErased: boolean
}

export interface VerifiedKeys {
  readonly keys: number
  readonly problems: ReadonlyArray<{ readonly name: string; readonly problem: string }>
}

/** Counts the keys and reports keys that the master key does not unwrap or that should have been erased. */
export const verifyKeys = async (
  rows: AsyncIterable<KeyRow> | Iterable<KeyRow>,
  masterKey: Uint8Array,
): Promise<VerifiedKeys> => {
  const wrappingKey = deriveKey(masterKey, 'keyring')
  const problemOf = ({ name, wrapped, isErased }: KeyRow): string | null => {
    if (isErased) return 'was erased but still exists'
    try {
      if (wrapped === null) return 'is not a key'
      decrypt(wrappingKey, name, wrapped.subarray(0, IV_BYTES), wrapped.subarray(IV_BYTES)).fill(0)
      return null
    } catch {
      return 'is damaged, or belongs to another master key'
    }
  }
  let keys = 0
  const problems: Array<{ readonly name: string; readonly problem: string }> = []
  for await (const row of rows) {
    keys += 1
    const problem = problemOf(row)
    if (problem !== null) problems.push({ name: row.name, problem })
  }
  return { keys, problems }
}
