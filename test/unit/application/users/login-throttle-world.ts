import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { createLoginThrottle, throttledName } from '../../../../application/users/login-throttle.ts'
import { after } from '../../../support/events/sample-events.ts'
import { immediateTimers as timers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestCredentials } from '../../../support/doubles/credentials.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'

export const HOME = '192.0.2.1'
const USERS = ['ada', 'grace']

/** Logins whose right password is `right`. ada and grace are users. */
export const createWorld = (store: EventStore = createMemoryEventStore()) => {
  let milliseconds = 0
  const inner = createTestEnvironment()
  const environment = { ...inner, now: () => after(milliseconds) }
  const pass = (ms: number): void => {
    milliseconds += ms
    inner.advance(ms)
  }
  const logger = createRecordingLogger()
  const throttle = createLoginThrottle({
    store: { ...store, now: () => Date.parse(after(milliseconds)) },
    keyring: createMemoryKeyring(),
    environment,
    timers,
    credentials: createTestCredentials(),
    logger,
    enabled: true,
  })
  let verifications = 0
  /** `generation`: that of a user, which rises with each password change. */
  const attempt = async (password: string, name = 'ada', address = HOME, generation = 0): Promise<string> => {
    const known = throttledName(name, USERS.includes(name) ? generation : null)
    const answer = await throttle(known, address, async () => {
      verifications += 1
      await Promise.resolve()
      return E.right(password === 'right' ? O.some('in') : O.none)
    })
    if (E.isLeft(answer))
      return answer.left._tag === 'TooManyRequests' ? `wait ${answer.left.seconds}` : answer.left._tag
    return O.isSome(answer.right) ? 'in' : 'wrong'
  }
  const attempts = async (count: number, name?: string, address?: string): Promise<ReadonlyArray<string>> => {
    const answers: Array<string> = []
    for (let n = 0; n < count; n += 1) answers.push(await attempt('guess', name, address))
    return answers
  }
  return { attempt, attempts, pass, store, logger, verifications: () => verifications }
}
