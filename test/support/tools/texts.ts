import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Keyring } from '../../../application/ports/keyring.ts'
import type { Envelope } from '../../../domain/shared/event.ts'
import { right } from '../../contract/event-store-support.ts'
import { at, placed } from '../doubles/memory/keyring.ts'

/** Seals a text under a key. */
export const sealText = (
  keyring: Pick<Keyring, 'seal'>,
  key: string,
  text = 'a text',
): Promise<Either<unknown, ReadonlyArray<Envelope>>> => keyring.seal(key, placed([text]))()

/** The texts of envelopes in their order, null for those that do not open. */
export const openTexts = async (
  keyring: Pick<Keyring, 'open'>,
  envelopes: ReadonlyArray<Envelope>,
): Promise<ReadonlyArray<string | null>> =>
  (await right(keyring.open(at(envelopes)))).map((opened) => (E.isRight(opened) ? opened.right : null))
