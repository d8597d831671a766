import type { Mutant } from './mutant.ts'

const KEYRING = 'test/contract/sqlite/keyring.test.ts'
const CONTRACT_SQLITE_KEYRING = 'test/contract/sqlite-keyring.test.ts'
const KEYRING_CACHE = 'test/contract/sqlite/keyring-cache.test.ts'
const ENVELOPE_BYTES = 'test/unit/infrastructure/envelope-bytes.test.ts'

/** Keys and envelopes: erased data stays unreadable, all other data stays readable. */
export const keyMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/keys/keyring.ts',
    before: 'if (erasuresAtQuery === erasures) cache.set(name, key)',
    after: 'cache.set(name, key)',
    rows: ['a read that finishes after the erasure of its key leaves no key in memory'], test: KEYRING,
  },
  {
    file: 'infrastructure/keys/keyring.ts',
    before: '    erasures += 1\n    for',
    after: '    for',
    rows: ['a read that finishes after the erasure of its key leaves no key in memory'], test: KEYRING,
  },
  {
    file: 'infrastructure/keys/keyring.ts',
    before: 'for (const name of names) cache.delete(name)',
    after: '',
    rows: ['an erased key neither opens nor seals, and other keys keep working'], test: CONTRACT_SQLITE_KEYRING,
  },
  {
    file: 'application/lru-cache.ts',
    before: '      if (value !== undefined) set(key, value)\n',
    after: '',
    rows: ['the ten thousand keys used last stay in memory; others are read from storage'], test: KEYRING_CACHE,
  },
  {
    file: 'infrastructure/keys/keyring.ts',
    before: 'if (probe !== null) checkMasterKey(probe)',
    after: '',
    rows: ['a keyring does not open with another master key'], test: KEYRING,
  },
  {
    file: 'infrastructure/keys/keyring.ts',
    before: 'return E.isLeft(erased) ? E.left(unavailable(erased.left)) : E.right(undefined)',
    after: 'return E.right(undefined)',
    rows: ['a read-only keyring creates no keys, says so, and opens existing envelopes'], test: KEYRING_CACHE,
  },
  {
    file: 'infrastructure/keys/keyring.ts',
    before: 'return key === undefined ? refused : E.right(key)',
    after: 'return E.right(key ?? null)',
    rows: ['a read-only keyring creates no keys, says so, and opens existing envelopes'], test: KEYRING_CACHE,
  },
  {
    file: 'infrastructure/sqlite/keyring/keyring-worker.ts',
    before: 'if (isErased.get(job.name) !== undefined) return { wrapped: null }\n',
    after: '\n',
    rows: ['an erased key neither opens nor seals, and other keys keep working'], test: CONTRACT_SQLITE_KEYRING,
  },
  {
    file: 'infrastructure/sqlite/keyring/keyring-worker.ts',
    before: 'secureDelete: true',
    after: 'secureDelete: false',
    rows: ['keys and erasures survive a restart, and erased keys leave no byte on the disk'], test: KEYRING,
  },
  {
    file: 'infrastructure/sqlite/keyring/keyring-worker.ts',
    before: '        removeKey.run(name)\n',
    after: '',
    rows: ['an erased key neither opens nor seals, and other keys keep working'], test: CONTRACT_SQLITE_KEYRING,
  },
  {
    file: 'infrastructure/sqlite/keyring/keyring-worker.ts',
    before: '        recordErasure.run(name, Date.now())\n',
    after: '',
    rows: ['an erased key neither opens nor seals, and other keys keep working'], test: CONTRACT_SQLITE_KEYRING,
  },
  {
    file: 'infrastructure/sqlite/keyring/keyring-worker.ts',
    before: "'INSERT INTO keys(name, wrapped) VALUES (?, ?) ON CONFLICT DO NOTHING'",
    after: "'INSERT OR REPLACE INTO keys(name, wrapped) VALUES (?, ?)'",
    rows: ['concurrent seals under a new key share one key'], test: CONTRACT_SQLITE_KEYRING,
  },
  {
    file: 'infrastructure/sqlite/keyring/keyring-worker.ts',
    before: 'database, apply, committed, closing',
    after: 'database, apply, closing',
    rows: ['keys and erasures survive a restart, and erased keys leave no byte on the disk'], test: KEYRING,
  },
  {
    file: 'infrastructure/keys/envelope.ts',
    before: 'const iv = randomBytes(IV_BYTES)',
    after: 'const iv = Buffer.alloc(IV_BYTES)',
    rows: ['an envelope names its key and reveals nothing of its text'], test: CONTRACT_SQLITE_KEYRING,
  },
  {
    file: 'infrastructure/keys/envelope.ts',
    before: 'const TAG_BYTES = 16',
    after: 'const TAG_BYTES = 12',
    rows: ['an envelope has a fresh initialisation vector of 12 bytes'], test: ENVELOPE_BYTES,
  },
  {
    file: 'infrastructure/keys/envelope.ts',
    before: 'if (iv.byteLength !== IV_BYTES || sealed.byteLength < TAG_BYTES)',
    after: 'if (iv.byteLength < 0)',
    rows: ['every changed or missing byte of an envelope is detected'], test: ENVELOPE_BYTES,
  },
  {
    file: 'infrastructure/keys/envelope.ts',
    before: 'Buffer.concat([decipher.update(sealed.subarray(0, split)), decipher.final()])',
    after: 'Buffer.concat([decipher.update(sealed.subarray(0, split))])',
    rows: ['every changed or missing byte of an envelope is detected'], test: ENVELOPE_BYTES,
  },
  {
    file: 'infrastructure/keys/envelope.ts',
    before: 'Buffer.from(text))',
    after: "Buffer.from(text, 'latin1'))",
    rows: ['sealed texts open again in the requested order'], test: CONTRACT_SQLITE_KEYRING,
  },
]
