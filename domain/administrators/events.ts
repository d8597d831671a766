import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent, type EventOf } from '../shared/event.ts'

/** Lists the administrators, so the last administrator is recognised without reading every user. */
export const ADMINISTRATORS_STREAM = 'administrators'

const REVISION = boundedInteger(0, Number.MAX_SAFE_INTEGER)

/**
 * `revision`: of the event in the user's own stream that made the user an administrator. That event is stored before
 * this event.
 */
export const AdministratorAdded = defineEvent(
  'AdministratorAdded',
  t.strict({ userId: id, revision: REVISION, at: instant }),
)

/**
 * `revision`: of the newest event in the user's own stream at that moment. The event that ends the user's rights may
 * follow later.
 */
export const AdministratorRemoved = defineEvent(
  'AdministratorRemoved',
  t.strict({ userId: id, revision: REVISION, at: instant }),
)

export type AdministratorsEvent = EventOf<typeof AdministratorAdded | typeof AdministratorRemoved>
