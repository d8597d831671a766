import type { Keyring } from '../../../../application/ports/keyring.ts'
import { openKeyring } from '../../../../infrastructure/keys/keyring.ts'
import type { StoredKey } from '../../../../infrastructure/keys/keyring.ts'
import * as E from 'fp-ts/lib/Either.js'

/** The keyring port in memory; unless it is reachable, no key can be asked for that was not used before. */
export const createMemoryKeyring = (isReachable = (): boolean => true): Keyring => {
  const keys = new Map<string, StoredKey>()
  const opened = openKeyring(
    {
      ensure: async (name, wrapped) => {
        if (!isReachable()) return E.left('cut off')
        const key = keys.get(name)
        if (key === undefined) keys.set(name, wrapped)
        return E.right(key === undefined ? wrapped : key)
      },
      find: async (names) => E.right(new Map(names.flatMap((name): ReadonlyArray<[string, StoredKey]> => {
        const key = keys.get(name)
        return key === undefined ? [] : [[name, key]]
      }))),
      erase: async (names) => {
        for (const name of names) keys.set(name, null)
        return E.right(undefined)
      },
      close: () => Promise.resolve(),
    },
    Buffer.alloc(32, 7),
  )
  let told: Pick<Keyring, 'missing' | 'foreign'> = { missing: () => [], foreign: () => [] }
  void opened.then((keyring) => { told = keyring })
  return {
    seal: (name, members) => async () => await (await opened).seal(name, members)(),
    open: (sealed) => async () => await (await opened).open(sealed)(),
    erase: (names) => async () => await (await opened).erase(names)(),
    missing: () => told.missing(),
    foreign: () => told.foreign(),
    close: () => Promise.resolve(),
  }
}
