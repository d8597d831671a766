import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { ERASED } from './event.ts'

/** Returns the decrypted text, or `[erased]` when decryption failed, so the other members can still be shown. */
export const textOrErased = (opened: Either<unknown, string> | undefined): string =>
  opened === undefined || E.isLeft(opened) ? ERASED : opened.right
