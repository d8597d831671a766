import { randomBytes } from 'node:crypto'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Keyring } from '../../application/ports/keyring.ts'
import { openText, sealText } from '../../infrastructure/envelope.ts'

/** The keyring port in memory. */
export const createMemoryKeyring = (): Keyring => {
  const keys = new Map<string, Buffer>()
  const erased = new Set<string>()

  return {
    seal: (name, texts) => async () => {
      if (erased.has(name)) return TE.left({ _tag: 'KeyErased' as const, key: name })()
      const key = keys.get(name) ?? randomBytes(32)
      keys.set(name, key)
      return TE.right(texts.map((text) => sealText(key, name, text)))()
    },
    open: (envelopes) => async () =>
      TE.right(
        envelopes.map((envelope) => {
          if (erased.has(envelope.k)) return O.none
          const key = keys.get(envelope.k)
          if (key === undefined) throw new Error(`no key ${envelope.k} was ever made`)
          return O.some(openText(key, envelope))
        }),
      )(),
    erase: (names) => async () => {
      for (const name of names) {
        keys.delete(name)
        erased.add(name)
      }
      return TE.right(undefined)()
    },
    close: () => Promise.resolve(),
  }
}
