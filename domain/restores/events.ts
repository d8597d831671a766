import * as t from 'io-ts'
import { boundedInteger, instant } from '../shared/codecs.ts'
import { defineEvent, type EventOf } from '../shared/event.ts'

/** One event for each time that this log was replaced by an older copy of itself. */
export const RESTORES_STREAM = 'restores'

const offset = boundedInteger(0, Number.MAX_SAFE_INTEGER)

/**
 * An older copy of the log took the place of a newer one. Ids that the newer log gave out are never given out again,
 * and the logins of that time end.
 */
export const LogRestored = defineEvent(
  'LogRestored',
  t.strict({
    /** Different for each restore, even of the same copy. The key that signs logins derives from it. */
    epoch: t.string,
    /** What later ids of each kind are higher by than the number of their event in `seq-<kind>`. */
    idOffsets: t.strict({ user: offset, profile: offset, 'api-token': offset, job: offset }),
    /** Whether the log that was replaced could be read. If not, ids were skipped and API tokens switched off. */
    lost: t.keyof({ known: null, unknown: null }),
    /** When the copy was made. Null for a copy that the tools of a server made. */
    backupAt: t.union([instant, t.null]),
    at: instant,
  }),
)
export type LogRestored = EventOf<typeof LogRestored>
