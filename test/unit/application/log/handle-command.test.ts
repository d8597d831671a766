import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { nextId } from '../../../../application/log/next-id.ts'
import { openEvents, sealEvents } from '../../../../application/log/event-serialization.ts'
import { handleCommand } from '../../../../application/log/handle-command.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { listenerTokenClaim } from '../../../../domain/live/listener-token-claim.ts'
import { ERASED } from '../../../../domain/shared/event.ts'
import { liveCreated } from '../../../support/events/sample-events.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { storedEvents } from '../../../support/events/stored-events.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { createFailingStore, type Fate } from '../failing-store.ts'

const STREAM = 'listener-token-x'

const claiming = (store: EventStore, environment = createTestEnvironment()) => {
  const deps = { store, keyring: createMemoryKeyring(), environment, timers: immediateTimers }
  return (userId: number, commandId: string = environment.newId()) =>
    handleCommand(deps)({
      stream: STREAM,
      decider: listenerTokenClaim,
      command: { userId, at: environment.now() },
      commandId,
      correlationId: 'request-1',
      actor: `user:${userId}`,
    })
}

const withFates = (...fates: ReadonlyArray<Fate>) => {
  const memory = createMemoryEventStore(() => 0)
  const failing = createFailingStore(memory, { [STREAM]: fates })
  return { memory, claim: claiming(failing.store), appends: () => failing.appendsTo(STREAM) }
}

test('a command is appended with its actor, reason and time', async (t) => {
  const { memory, claim } = withFates()
  const handled = right(await claim(7, 'command-1'))
  const [event] = memory.allEvents()
  t.deepEqual(handled.stored, memory.allEvents())
  t.is(handled.position, event?.position ?? null)
  t.like(event?.metadata, { correlationId: 'request-1', causationId: 'command-1', actor: 'user:7' })
})

test('an event of a request has its correlation id', async (t) => {
  const store = createMemoryEventStore()
  const environment = { ...createTestEnvironment(), correlationId: () => 'the request' }
  right(await claiming(store, environment)(7, 'command-1'))
  right(
    await nextId({ store, keyring: createMemoryKeyring(), environment, timers: immediateTimers })('profile', {
      correlationId: 'c',
      causationId: 'c',
      actor: 'a',
    }),
  )
  t.deepEqual(store.allEvents().map(({ metadata }) => metadata.correlationId), ['the request', 'the request'])
})

test('an append that did not happen is repeated with the same ids', async (t) => {
  const { memory, claim, appends } = withFates('not-made', 'not-made')
  right(await claim(7))
  t.is(memory.allEvents().length, 1)
  t.is(appends().length, 3)
  t.is(new Set(appends().flatMap(({ ids }) => ids)).size, 1)
})

test('an append with lost answers is found in the stream and not repeated', async (t) => {
  const { memory, claim } = withFates('lost-answer', 'lost-answer', 'lost-answer')
  const handled = right(await claim(7))
  t.is(memory.allEvents().length, 1)
  t.deepEqual(handled.stored, memory.allEvents())
})

test('an unavailable store gives StoreUnavailable and nothing is written', async (t) => {
  const { memory, claim } = withFates('not-made', 'not-made', 'not-made')
  t.like(await claim(7), { left: { _tag: 'StoreUnavailable' } })
  t.deepEqual(memory.allEvents(), [])
})

test('a repeated command finds its events', async (t) => {
  const { memory, claim } = withFates()
  const first = right(await claim(7, 'command-1'))
  t.deepEqual(right(await claim(7, 'command-1')), first)
  t.is(memory.allEvents().length, 1)
})

test('a command that lost a race is decided again on the new state', async (t) => {
  const memory = createMemoryEventStore()
  const claimFirst = claiming(memory)
  let hasRaced = false
  const claim = claiming({
    ...memory,
    append: async (...args) => {
      if (!hasRaced) right(await claimFirst(8))
      hasRaced = true
      return await memory.append(...args)
    },
  })
  t.like(await claim(7), { left: { _tag: 'ListenerTokenTaken' } })
  t.is(memory.allEvents().length, 1)
})

test('after the first decision and four retries the answer is Contended', async (t) => {
  let appends = 0
  const claim = claiming({
    ...createMemoryEventStore(),
    append: async (stream) => {
      appends += 1
      return E.left({ _tag: 'WrongRevision', stream, actual: appends })
    },
  })
  t.deepEqual(await claim(7), E.left({ _tag: 'Contended', stream: STREAM }))
  t.is(appends, 5)
})

test('a deleted stream continues its numbering', async (t) => {
  const { memory, claim } = withFates()
  right(await claim(7))
  right(await memory.deleteStream(STREAM))
  // The next command decides on an empty stream, although the revisions continue.
  t.is(right(await claim(8)).stored[0]?.revision, 1)
})

test('a stream whose events have all expired continues its numbering', async (t) => {
  const { memory, claim } = withFates()
  right(await claim(7))
  right(await memory.setMetadata(STREAM, { maxAgeSeconds: -1 }))
  t.is(right(await claim(8)).stored[0]?.revision, 1)
})

test('personal data is encrypted in the log and unreadable without its key', async (t) => {
  const keyring = createMemoryKeyring()
  const event = liveCreated({ audioUrl: 'rtsp://camera/secret', senderToken: 'the-sender-token' })
  const sealed = storedEvents(right(await sealEvents(keyring, `live-${event.data.liveId}`)([event])))
  t.notRegex(JSON.stringify(sealed), /camera|the-sender-token/)
  t.deepEqual(right(await openEvents(keyring)(sealed)), [event])

  right(await keyring.erase([`live-${event.data.liveId}`]))
  const [opened] = right(await openEvents(keyring)(sealed))
  t.like(opened?.data, { audioUrl: ERASED, senderToken: ERASED, vram: event.data.vram })
})

test('a decision is refused when a stored event has a wrong shape or an unknown type', async (t) => {
  const open = openEvents(createMemoryKeyring())
  t.like(await open(storedEvents([{ type: 'Released', data: { liveId: 'seven' } }])), {
    left: { _tag: 'LogCorrupted' },
  })
  t.like(await open(storedEvents([{ type: 'NeverDefined', data: {} }])), {
    left: { _tag: 'EventTypeUnknown', type: 'NeverDefined' },
  })
})
