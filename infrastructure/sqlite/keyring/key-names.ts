import type { DatabaseSync } from 'node:sqlite'
import { PROBE } from '../../keys/keyring.ts'
import { openReplaced } from '../database.ts'

export interface KeyNames {
  readonly erased: ReadonlyArray<string>
  readonly kept: ReadonlyArray<string>
  /** Identifies the keyring: copies of one keyring have the same value. */
  readonly identity: string
}

/**
 * Reads the names of a keyring. By default no process may have it open, and any version may have written it. Throws if
 * it is damaged.
 */
export const readKeyNames = (file: string, open: (file: string) => DatabaseSync = openReplaced): KeyNames => {
  const database = open(file)
  const namesIn = (table: 'keys' | 'erased'): ReadonlyArray<string> =>
    database.prepare(`SELECT name FROM ${table} ORDER BY name`).all().map(({ name }) => String(name))
  try {
    const probe = database.prepare('SELECT hex(wrapped) AS wrapped FROM keys WHERE name = ?').get(PROBE)
    return { erased: namesIn('erased'), kept: namesIn('keys'), identity: String(probe?.['wrapped']) }
  } finally {
    database.close()
  }
}
