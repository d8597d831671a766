import * as t from 'io-ts'
import { instant } from './codecs.ts'
import { defineEvent, type EventOf } from './event.ts'

/**
 * Kinds of resources that get their ids from a stream. Each kind has its own stream. An id is a revision plus 1, and
 * after a restore also plus the offset in `LogRestored`.
 */
export type SequenceKind = 'user' | 'profile' | 'api-token' | 'job'

export const sequenceStream = (kind: SequenceKind): string => `seq-${kind}`

/** A new resource took the next id. */
export const IdTaken = defineEvent('IdTaken', t.strict({ at: instant }))
export type IdTaken = EventOf<typeof IdTaken>
