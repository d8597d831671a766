import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'

/** Lists the administrators, so the last one is recognised without reading every user. */
export const ADMINISTRATORS_STREAM = 'administrators'

const REVISION = boundedInteger(0, Number.MAX_SAFE_INTEGER)

/**
 * `revision`: the event in the user's own stream that made the user an administrator. It is stored before this event.
 */
export const AdministratorAdded = defineEvent(
  'AdministratorAdded',
  t.strict({ userId: id, revision: REVISION, at: instant }),
)

/** `revision`: the newest event in the user's own stream at that moment. The demoting event itself may follow later. */
export const AdministratorRemoved = defineEvent(
  'AdministratorRemoved',
  t.strict({ userId: id, revision: REVISION, at: instant }),
)

export type AdministratorsEvent = EventOf<typeof AdministratorAdded | typeof AdministratorRemoved>
