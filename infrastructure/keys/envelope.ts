import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Place } from '../../application/ports/keyring.ts'
import type { Envelope } from '../../domain/shared/event.ts'

const CIPHER = 'aes-256-gcm'
/** Length of an initialisation vector. */
export const IV_BYTES = 12
const TAG_BYTES = 16

/** Encrypts under a 32-byte key with a random 96-bit iv: iv, then ciphertext and tag. `bound` is authenticated too. */
export const encrypt = (
  key: Uint8Array,
  bound: string,
  plain: Uint8Array,
): { readonly iv: Buffer; readonly sealed: Buffer } => {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(bound))
  return { iv, sealed: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]) }
}

/** Undoes `encrypt`; throws on another key, another `bound` or a changed byte. */
export const decrypt = (key: Uint8Array, bound: string, iv: Uint8Array, sealed: Uint8Array): Buffer => {
  if (iv.byteLength !== IV_BYTES || sealed.byteLength < TAG_BYTES) throw new Error(`an envelope of ${bound} is malformed`)
  const split = sealed.byteLength - TAG_BYTES
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(bound))
    .setAuthTag(sealed.subarray(split))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, split)), decipher.final()])
  } catch (cause) {
    throw new Error(`an envelope of ${bound} is foreign or was changed`, { cause })
  }
}

/**
 * What an envelope authenticates beside its text. Those of the first format, which have no `m`, authenticate the name
 * of their key alone. No such name begins with a bracket: without its `m` an envelope of today authenticates something
 * else than it was sealed with, and does not open.
 */
const boundOf = (name: string, stream: string, member: string | undefined): string =>
  member === undefined ? name : JSON.stringify([name, stream, member])

/** A personal member as it is stored: it opens under its key, in its stream, as the member that it was sealed as. */
export const sealText = (key: Uint8Array, name: string, { stream, member }: Place, text: string): Envelope => {
  const { iv, sealed } = encrypt(key, boundOf(name, stream, member), Buffer.from(text))
  return { k: name, m: member, iv: iv.toString('base64'), c: sealed.toString('base64') }
}

/** The text of an envelope that stands in `stream`; throws when it is not one of this key and that stream. */
export const openText = (key: Uint8Array, { k, m, iv, c }: Envelope, stream: string): string =>
  decrypt(key, boundOf(k, stream, m), Buffer.from(iv, 'base64'), Buffer.from(c, 'base64')).toString()
