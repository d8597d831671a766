import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { ERASED } from './event.ts'

/** What people read of a sealed member in a read model: one that does not open must not hide the others. */
export const textOrErased = (opened: Either<unknown, string> | undefined): string =>
  opened === undefined || E.isLeft(opened) ? ERASED : opened.right
