import * as t from 'io-ts'
import { boundedInteger, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'

/** Wrong logins of one name, known or not; only the newest event matters. */
export const loginFailuresStream = (usernameHash: string): string => `login-failures-${usernameHash}`

/** `failures`: how many there were since the last success, this one included. */
export const LoginFailed = defineEvent('LoginFailed', t.strict({ failures: boundedInteger(1, 1e9), at: instant }))
export const LoginFailuresCleared = defineEvent('LoginFailuresCleared', t.strict({ at: instant }))

export type LoginFailuresEvent = EventOf<typeof LoginFailed> | EventOf<typeof LoginFailuresCleared>
