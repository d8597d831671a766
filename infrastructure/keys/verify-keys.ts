import { decrypt, IV_BYTES } from './envelope.ts'
import { deriveKey } from './master-key.ts'

/** A key as a storage holds it. */
export interface KeyRow {
  readonly name: string
  /** Null: what is there is no key. */
  readonly wrapped: Uint8Array | null
  /** It was erased, and is there all the same. */
  readonly isErased: boolean
}

export interface VerifiedKeys {
  readonly keys: number
  readonly problems: ReadonlyArray<{ readonly name: string; readonly problem: string }>
}

/** Counts the keys and names those that the master key does not open, or that should be gone. */
export const verifyKeys = async (rows: AsyncIterable<KeyRow> | Iterable<KeyRow>, masterKey: Uint8Array): Promise<VerifiedKeys> => {
  const wrappingKey = deriveKey(masterKey, 'keyring')
  const problemOf = ({ name, wrapped, isErased }: KeyRow): string | null => {
    if (isErased) return 'was erased and is there'
    try {
      if (wrapped === null) return 'is no key'
      decrypt(wrappingKey, name, wrapped.subarray(0, IV_BYTES), wrapped.subarray(IV_BYTES)).fill(0)
      return null
    } catch {
      return 'is not what was wrapped by this master key'
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
