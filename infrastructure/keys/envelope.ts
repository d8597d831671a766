import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Place } from '../../application/ports/keyring.ts'
import type { Envelope } from '../../domain/shared/event.ts'

const CIPHER = 'aes-256-gcm'
/** Length of the initialisation vector (96 bits). */
export const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts with a 32-byte key and a random initialisation vector (`iv`). `sealed` is the ciphertext with its tag. The
 * tag also covers `context`, so decryption needs the same context.
 */
export const encrypt = (
  key: Uint8Array,
  context: string,
  plain: Uint8Array,
): { readonly iv: Buffer; readonly sealed: Buffer } => {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context))
  return { iv, sealed: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]) }
}

/** Reverses `encrypt`; throws an Error on a wrong key, a wrong `context` or a changed byte. */
export const decrypt = (key: Uint8Array, context: string, iv: Uint8Array, sealed: Uint8Array): Buffer => {
  if (iv.byteLength !== IV_BYTES || sealed.byteLength < TAG_BYTES)
    throw new Error(`an envelope of ${context} is malformed`)
  const split = sealed.byteLength - TAG_BYTES
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(split))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, split)), decipher.final()])
  } catch (cause) {
    throw new Error(`an envelope of ${context} belongs elsewhere or was changed`, { cause })
  }
}

/**
 * The context of an envelope: key name, stream and member. Envelopes of the first format have no member `m`, and their
 * context is only the key name. The two forms always differ, because no key name starts with a bracket. So an envelope
 * does not open after somebody removed its `m`.
 */
const contextOf = (name: string, stream: string, member: string | undefined): string =>
  member === undefined ? name : JSON.stringify([name, stream, member])

/** Encrypts a personal member of an event. The envelope opens only with the same key, stream and member name. */
export const sealText = (key: Uint8Array, name: string, { stream, member }: Place, text: string): Envelope => {
  const { iv, sealed } = encrypt(key, contextOf(name, stream, member), Buffer.from(text))
  return { k: name, m: member, iv: iv.toString('base64'), c: sealed.toString('base64') }
}

/** Decrypts an envelope of `stream`; throws an Error when it was sealed with another key or for another stream. */
export const openText = (key: Uint8Array, { k, m, iv, c }: Envelope, stream: string): string =>
  decrypt(key, contextOf(k, stream, m), Buffer.from(iv, 'base64'), Buffer.from(c, 'base64')).toString()
