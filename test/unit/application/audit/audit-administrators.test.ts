import test from 'ava'
import { checkLog } from '../../../../application/audit/check-log.ts'
import { sealEvents } from '../../../../application/log/event-serialization.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { after } from '../../../support/events/sample-events.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { NOTHING_ERASED } from './audited-log.ts'

type Step = readonly [stream: string, type: string, data: object]

const common = { userId: 3, at: after(0) }
const limits = { permissions: [], maxSessions: 1, maxTranslations: 1 }
const login = { username: 'u', usernameHash: 'h', passwordHash: 'p' }
const registered: Step = ['user-3', 'UserRegistered', { ...common, ...login, ...limits }]
const disabled: Step = ['user-3', 'UserDisabled', common]
const enabled: Step = ['user-3', 'UserEnabled', common]
const listed = (revision: number): Step => ['administrators', 'AdministratorAdded', { ...common, revision }]
const unlisted = (revision: number): Step => ['administrators', 'AdministratorRemoved', { ...common, revision }]

/** Returns the problems that the check finds in the administrators. `damaged` is the index of an unreadable event. */
const problemsOf = async (steps: ReadonlyArray<Step>, damaged = -1): Promise<ReadonlyArray<string>> => {
  const store = createMemoryEventStore()
  const keyring = createMemoryKeyring()
  const environment = createTestEnvironment()
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: after(0) }
  for (const [stream, type, data] of steps) {
    const sealed = right(await sealEvents(keyring, stream)([{ type, data }]))
    right(await store.append(stream, 'any', sealed.map((event) => ({ ...event, id: environment.newId(), metadata }))))
  }
  const row = store.allEvents()[damaged]
  const subscribe: EventStore['subscribe'] = async function* (from, prefixes, signal) {
    for await (const message of store.subscribe(from, prefixes, signal)) {
      if (message.kind === 'event' && message.event.position === row?.position)
        throw new Error('damaged', { cause: { _tag: 'LogCorrupted', reason: 'a flipped bit', row } })
      yield message
    }
  }
  const { problems } = await checkLog({
    ...NOTHING_ERASED, store: { ...store, subscribe }, keyring, keyNames: () => [], now: null,
  })
  return problems.flatMap(({ where, problem }) => (where.includes('administrators') ? [problem] : []))
}

const validHistory = [registered, listed(0), unlisted(0), disabled, enabled, listed(2), unlisted(2), unlisted(2)]

test("the list of administrators must match the users' streams, as far as these are readable", async (t) => {
  t.deepEqual(await problemsOf(validHistory), [])
  const missingEvent = ['the list of administrators refers to an event of user 3 that is not in the log']
  t.deepEqual(await problemsOf([listed(0), registered]), missingEvent)
  t.deepEqual(await problemsOf([registered, listed(1)]), missingEvent)
  t.deepEqual(await problemsOf([registered, listed(0), unlisted(1)]), missingEvent)
  const addedTwice = ['user 3 was added twice to the list of administrators']
  t.deepEqual(await problemsOf([registered, listed(0), disabled, listed(1)]), addedTwice)
  t.deepEqual(await problemsOf([registered, disabled, listed(1)], 1), [])
})
