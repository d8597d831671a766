import * as t from 'io-ts'
import { instant } from './codecs.ts'
import { defineEvent } from './event.ts'
import type { EventOf } from './event.ts'

/** One stream a kind of resource numbers it: an id is the revision of its event, counted from 1, so none is used twice. */
export type SequenceKind = 'user' | 'profile' | 'api-token' | 'job'

export const sequenceStream = (kind: SequenceKind): string => `seq-${kind}`

export const IdTaken = defineEvent('IdTaken', t.strict({ at: instant }))
export type IdTaken = EventOf<typeof IdTaken>
