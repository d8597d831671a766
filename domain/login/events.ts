import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'

/** Wrong logins of one name, known or not, from anywhere or from one network; only the newest event matters. */
export const loginFailuresStream = (hash: string): string => `login-failures-${hash}`

/** `failures`: how many there were since the last success, this one included. */
export const LoginFailed = defineEvent(
  'LoginFailed',
  t.exact(
    t.intersection([
      t.type({ failures: boundedInteger(1, 1e9), at: instant }),
      /** When the last success was; left out where there was none, and in events of the first versions. */
      t.partial({ succeededAt: instant }),
    ]),
  ),
)
/** A login that was right. */
export const LoginFailuresCleared = defineEvent('LoginFailuresCleared', t.strict({ at: instant }))

/** One login token, named by its `jti`; kept for as long as the token would have lived. */
export const loginTokenStream = (tokenId: string): string => `login-token-${tokenId}`

/** The token is refused from now on. */
export const LoggedOut = defineEvent('LoggedOut', t.strict({ userId: id, at: instant }))
export type LoggedOut = EventOf<typeof LoggedOut>

export type LoginFailuresEvent = EventOf<typeof LoginFailed> | EventOf<typeof LoginFailuresCleared>
