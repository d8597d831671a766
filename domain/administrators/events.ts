import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'

/** Who administers, so that the last one can be told without looking at every user. */
export const ADMINISTRATORS_STREAM = 'administrators'

const REVISION = boundedInteger(0, Number.MAX_SAFE_INTEGER)

/** `revision`: of the event in the user's own stream that made them one, which stands already. */
export const AdministratorAdded = defineEvent(
  'AdministratorAdded',
  t.strict({ userId: id, revision: REVISION, at: instant }),
)

/** `revision`: of the newest event in the user's own stream when this was decided; what ends their time may follow it. */
export const AdministratorRemoved = defineEvent(
  'AdministratorRemoved',
  t.strict({ userId: id, revision: REVISION, at: instant }),
)

export type AdministratorsEvent = EventOf<typeof AdministratorAdded | typeof AdministratorRemoved>
