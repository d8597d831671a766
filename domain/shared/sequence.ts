import * as t from 'io-ts'
import { instant } from './codecs.ts'
import { defineEvent } from './event.ts'
import type { EventOf } from './event.ts'

/** Kinds of resources with one stream each that numbers them: an id is the revision of its event plus 1. */
export type SequenceKind = 'user' | 'profile' | 'api-token' | 'job'

export const sequenceStream = (kind: SequenceKind): string => `seq-${kind}`

export const IdTaken = defineEvent('IdTaken', t.strict({ at: instant }))
export type IdTaken = EventOf<typeof IdTaken>
