import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent, type EventOf } from '../shared/event.ts'

/**
 * Failed logins with a known name from all networks, or from one network from which a login succeeded. The newest event
 * counts.
 */
export const loginFailuresStream = (hash: string): string => `login-failures-${hash}`

/** Number of streams that share the failures of unknown names, and of networks from which no login succeeded. */
const SHARED_STREAMS = 1024
/** Number of the newest failures that each shared stream keeps. */
export const SHARED_FAILURES = 64

/** One of a fixed number of streams, so that nobody can fill the log with the streams of invented names. */
export const sharedFailuresStream = (hash: string): string => {
  const number = Array.from(hash).reduce((sum, character) => (31 * sum + character.charCodeAt(0)) % SHARED_STREAMS, 0)
  return `login-failures-shared-${number}`
}

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
/** As `LoginFailed`, in a shared stream. `hash` is the name, or the name and the network, whose failures count. */
export const UnknownLoginFailed = defineEvent(
  'UnknownLoginFailed',
  t.strict({ hash: t.string, failures: boundedInteger(1, 1e9), at: instant }),
)
export type UnknownLoginFailed = EventOf<typeof UnknownLoginFailed>
export const LoginFailuresCleared = defineEvent('LoginFailuresCleared', t.strict({ at: instant }))

/** Stream of one login token, named by its `jti`. It is kept until the token expires. */
export const loginTokenStream = (tokenId: string): string => `login-token-${tokenId}`

/** The token was logged out and is refused. */
export const LoggedOut = defineEvent('LoggedOut', t.strict({ userId: id, at: instant }))
export type LoggedOut = EventOf<typeof LoggedOut>

export type LoginFailuresEvent = EventOf<typeof LoginFailed> | EventOf<typeof LoginFailuresCleared>
