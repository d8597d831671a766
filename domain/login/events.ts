import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'

/**
 * Failed logins with one name, from one network or from all networks. The name may be unknown. The newest event counts.
 */
export const loginFailuresStream = (hash: string): string => `login-failures-${hash}`

/** `failures`: the number of failures after the last success, including this one. */
export const LoginFailed = defineEvent(
  'LoginFailed',
  t.exact(
    t.intersection([
      t.type({ failures: boundedInteger(1, 1e9), at: instant }),
      /** Time of the last success. Absent before the first success and in events of the first versions. */
      t.partial({ succeededAt: instant }),
    ]),
  ),
)
/** A login succeeded. */
export const LoginFailuresCleared = defineEvent('LoginFailuresCleared', t.strict({ at: instant }))

/** Stream of one login token, named by its `jti`. It is kept until the token expires. */
export const loginTokenStream = (tokenId: string): string => `login-token-${tokenId}`

/** The token was logged out and is refused. */
export const LoggedOut = defineEvent('LoggedOut', t.strict({ userId: id, at: instant }))
export type LoggedOut = EventOf<typeof LoggedOut>

export type LoginFailuresEvent = EventOf<typeof LoginFailed> | EventOf<typeof LoginFailuresCleared>
