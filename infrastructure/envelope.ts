import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Envelope } from '../domain/shared/event.ts'

const CIPHER = 'aes-256-gcm'
/** Length of an initialisation vector. */
export const IV_BYTES = 12
const TAG_BYTES = 16

/** Encrypts under a 32-byte key with a random 96-bit iv: iv, then ciphertext and tag. `name` is authenticated too. */
export const encrypt = (key: Uint8Array, name: string, plain: Uint8Array): { readonly iv: Buffer; readonly sealed: Buffer } => {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name))
  return { iv, sealed: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]) }
}

/** Undoes `encrypt`; throws on another key, another name or a changed byte. */
export const decrypt = (key: Uint8Array, name: string, iv: Uint8Array, sealed: Uint8Array): Buffer => {
  if (iv.byteLength !== IV_BYTES || sealed.byteLength < TAG_BYTES) throw new Error(`an envelope of key ${name} is malformed`)
  const split = sealed.byteLength - TAG_BYTES
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(name))
    .setAuthTag(sealed.subarray(split))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, split)), decipher.final()])
  } catch (cause) {
    throw new Error(`an envelope of key ${name} is foreign or was changed`, { cause })
  }
}

/** A personal member as it is stored (D59). */
export const sealText = (key: Uint8Array, name: string, text: string): Envelope => {
  const { iv, sealed } = encrypt(key, name, Buffer.from(text))
  return { k: name, iv: iv.toString('base64'), c: sealed.toString('base64') }
}

/** The text of an envelope; throws when it is not one of this key. */
export const openText = (key: Uint8Array, { k, iv, c }: Envelope): string =>
  decrypt(key, k, Buffer.from(iv, 'base64'), Buffer.from(c, 'base64')).toString()
