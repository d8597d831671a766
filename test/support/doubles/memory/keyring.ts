import { randomBytes } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Keyring, PlainMember, SealedMember, Unopened } from '../../../../application/ports/keyring.ts'
import type { Envelope } from '../../../../domain/shared/event.ts'

/** An envelope and the text and stream for which it was made. */
interface Sealed {
  readonly envelope: Envelope
  readonly stream: string
  readonly text: string
}

/** Bytes of an initialisation vector and of an authentication tag, so envelopes have their real size. */
const [IV_BYTES, TAG_BYTES] = [12, 16]

const randomText = (bytes: number): string => randomBytes(bytes).toString('base64')

/**
 * A keyring in memory. It encrypts nothing: an envelope is a random text that the keyring looks up. While `isReachable`
 * returns false, a key that was never used here is unavailable.
 */
export const createMemoryKeyring = (isReachable = (): boolean => true): Keyring => {
  const keys = new Map<string, 'present' | 'erased'>()
  /** Keys that a sealed member names but that the keyring does not have. */
  const missing = new Set<string>()
  /** Streams that contain an envelope which was not sealed for them. */
  const foreign = new Set<string>()
  const sealed = new Map<string, Sealed>()

  const sealMember = (key: string, { stream, member, text }: PlainMember): Envelope => {
    const c = randomText(Buffer.byteLength(text) + TAG_BYTES)
    const envelope = { k: key, m: member, iv: randomText(IV_BYTES), c }
    sealed.set(c, { envelope, stream, text })
    return envelope
  }

  const openMember = ({ envelope, key, stream, members }: SealedMember): Either<Unopened, string> => {
    const { k, m, iv, c } = envelope
    const refuse = (): Either<Unopened, never> => {
      foreign.add(stream)
      return E.left({ _tag: 'EnvelopeForeign', key })
    }
    if (k !== key || (m !== undefined && !members.includes(m))) return refuse()
    if (keys.get(key) === 'erased') return E.left({ _tag: 'KeyErased', key })
    if (!keys.has(key)) {
      missing.add(key)
      return E.left({ _tag: 'KeyMissing', key })
    }
    const original = sealed.get(c)
    const isOriginal =
      original !== undefined && original.stream === stream &&
      original.envelope.k === k && original.envelope.m === m && original.envelope.iv === iv
    return isOriginal ? E.right(original.text) : refuse()
  }

  return {
    seal: async (key, members) => {
      if (keys.get(key) === 'erased') return E.left({ _tag: 'KeyErased', key })
      if (missing.has(key)) return E.left({ _tag: 'KeyMissing', key })
      if (!keys.has(key) && !isReachable()) return E.left({ _tag: 'KeyringUnavailable', reason: 'unreachable' })
      keys.set(key, 'present')
      return E.right(members.map((member) => sealMember(key, member)))
    },
    open: async (members) => E.right(members.map(openMember)),
    erase: async (names) => {
      for (const name of names) {
        keys.set(name, 'erased')
        missing.delete(name)
      }
      return E.right(undefined)
    },
    missing: () => [...missing],
    foreign: () => [...foreign],
    close: () => Promise.resolve(),
  }
}
