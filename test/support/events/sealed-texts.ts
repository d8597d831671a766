import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Keyring, PlainMember, SealedMember } from '../../../application/ports/keyring.ts'
import type { Envelope } from '../../../domain/shared/event.ts'
import { rightOf } from '../tools/right.ts'

/** A stream and a member, for tests in which the place of a text in the log does not matter. */
export const PLACE = { stream: 'user-1', member: 'UserRegistered.username' }

/** The texts as personal members, for `Keyring.seal`. */
export const plainMembers = (texts: ReadonlyArray<string>, place = PLACE): ReadonlyArray<PlainMember> =>
  texts.map((text) => ({ ...place, text }))

/** Envelopes of one place as sealed members, for `Keyring.open`. */
export const sealedMembers = (
  envelopes: ReadonlyArray<Envelope>,
  { stream, member } = PLACE,
): ReadonlyArray<SealedMember> =>
  envelopes.map((envelope) => ({ envelope, key: envelope.k, stream, members: [member] }))

/** Seals one text with a key. */
export const sealText = (
  keyring: Pick<Keyring, 'seal'>,
  key: string,
  text = 'a text',
): Promise<Either<unknown, ReadonlyArray<Envelope>>> => keyring.seal(key, plainMembers([text]))

/** Opens envelopes. Returns the texts in order; null for an envelope that does not open. */
export const openTexts = async (
  keyring: Pick<Keyring, 'open'>,
  envelopes: ReadonlyArray<Envelope>,
): Promise<ReadonlyArray<string | null>> =>
  (await rightOf(keyring.open(sealedMembers(envelopes)))).map((opened) => (E.isRight(opened) ? opened.right : null))
