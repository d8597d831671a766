import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import {
  createAdmissionActor, openAdmission, type AdmissionActor,
} from '../../../../application/admission/admission-actor.ts'
import type { Environment } from '../../../../application/ports/environment.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { ADMISSION_STREAM } from '../../../../domain/admission/events.ts'
import { ADMISSION_SNAPSHOT_STREAM } from '../../../../domain/admission/snapshot.ts'
import { reservedVram } from '../../../../domain/admission/state.ts'
import { currentCorrelationId, inRequest } from '../../../../infrastructure/observability/request-context.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { createFailingStore } from '../failing-store.ts'
import { admitCommand, setCapacity, WORKER } from '../../../support/worlds/write-side.ts'

const actorOn = async (
  store: EventStore,
  snapshotEvery = 200,
  correlationId: Environment['correlationId'] = () => null,
) => {
  const logger = createRecordingLogger()
  const environment = { ...createTestEnvironment(), correlationId }
  const deps = { store, keyring: createMemoryKeyring(), environment, timers: immediateTimers, logger, snapshotEvery }
  return { environment, logger, actor: await createAdmissionActor(deps) }
}

interface Process {
  readonly actor: AdmissionActor
  readonly environment: Environment
}

const admit = ({ actor, environment }: Process, userId: number, vram: number, commandId: string) =>
  actor.send({
    command: admitCommand({ commandId, userId, vram, instance: environment.instance }),
    commandId,
    correlationId: commandId,
    actor: `user:${userId}`,
  })

const release = ({ actor, environment }: Process, liveId: number) =>
  actor.send({
    command: { type: 'Release', liveId },
    commandId: environment.newId(),
    correlationId: 'c',
    actor: 'service',
  })

test('200 simultaneous admissions need at most four appends, and each admission gets its own answer', async (t) => {
  const memory = createMemoryEventStore()
  const { store, appendsTo } = createFailingStore(memory, {})
  const first = await actorOn(store)
  await setCapacity(first.actor, first.environment, 150)
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => admit(first, index + 1, 1, `create-${index}`)),
  )
  t.is(answers.filter(E.isRight).length, 150)
  t.is(answers.filter((answer) => E.isLeft(answer) && answer.left._tag === 'InsufficientVram').length, 50)
  t.is(reservedVram(first.actor.state()), 150)
  t.true(appendsTo('admission').length <= 4, `${appendsTo('admission').length} appends`)
})

test('opening admissions on a slow store fails with StoreUnavailable; a defect throws', async (t) => {
  const store = createMemoryEventStore()
  const deps = {
    keyring: createMemoryKeyring(),
    environment: createTestEnvironment(),
    timers: immediateTimers,
    logger: createRecordingLogger(),
  }
  const unavailable = E.left({ _tag: 'StoreUnavailable', reason: 'no answer in 800 ms' } as const)
  for (const stream of [ADMISSION_STREAM, ADMISSION_SNAPSHOT_STREAM]) {
    const read: EventStore['read'] = (name, options) =>
      name === stream ? (async () => unavailable)() : store.read(name, options)
    t.deepEqual(await openAdmission({ ...deps, store: { ...store, read } }), unavailable, stream)
  }
  t.true(E.isRight(await openAdmission({ ...deps, store })))
  const broken: EventStore['read'] = async () => {
    throw new Error('a defect')
  }
  await t.throwsAsync(() => openAdmission({ ...deps, store: { ...store, read: broken } }), { message: 'a defect' })
})

test('with several commands in one append each event has the correlation id of its own request', async (t) => {
  const store = createMemoryEventStore()
  const { actor, environment } = await actorOn(store, 200, currentCorrelationId)
  await setCapacity(actor, environment, 150)
  const process = { actor, environment }
  await Promise.all([
    inRequest('first', () => admit(process, 1, 1, 'a')),
    inRequest('second', () => admit(process, 2, 1, 'b')),
    admit(process, 3, 1, 'c'),
  ])
  const admitted = store.allEvents().filter(({ type }) => type === 'Admitted')
  t.deepEqual(admitted.map(({ metadata }) => metadata.correlationId), ['first', 'second', 'c'])
})

test('two actors on one log never reserve more memory than the workers have', async (t) => {
  const memory = createMemoryEventStore()
  const first = await actorOn(memory)
  const second = await actorOn(memory)
  await setCapacity(first.actor, first.environment, 40)
  const create = (_: unknown, index: number) => admit(index % 2 === 0 ? first : second, index + 1, 1, `create-${index}`)
  const answers = await Promise.all(Array.from({ length: 100 }, create))
  t.is(answers.filter(E.isRight).length, 40)
  t.is(memory.allEvents().filter(({ type }) => type === 'Admitted').length, 40)
})

test('a refusal uses the newest state, also when another process freed memory', async (t) => {
  const memory = createMemoryEventStore()
  const first = await actorOn(memory)
  await setCapacity(first.actor, first.environment, 4)
  const second = await actorOn(memory)
  right(await admit(first, 1, 4, 'a'))
  t.true(E.isLeft(await admit(second, 2, 1, 'b')))
  right(await release(first, 1))
  right(await admit(second, 2, 4, 'c'))
  t.like(await admit(second, 2, 1, 'd'), { left: { _tag: 'InsufficientVram', needed: 1, free: 0 } })
})

test('an append whose answer was lost is found in the log, and nothing is admitted twice', async (t) => {
  const memory = createMemoryEventStore()
  const { store } = createFailingStore(memory, { admission: ['answered', 'lost-answer', 'lost-answer', 'lost-answer'] })
  const first = await actorOn(store)
  await setCapacity(first.actor, first.environment, 10)
  right(await admit(first, 1, 4, 'a'))
  right(await admit(first, 1, 4, 'a'))
  t.is(reservedVram(first.actor.state()), 4)
})

test('when an append did not happen, all its commands are answered with StoreUnavailable', async (t) => {
  const { store } = createFailingStore(createMemoryEventStore(), {
    admission: ['answered', 'not-made', 'not-made', 'not-made'],
  })
  const first = await actorOn(store)
  await setCapacity(first.actor, first.environment, 1)
  const answers = await Promise.all([admit(first, 1, 1, 'a'), admit(first, 2, 1, 'b')])
  for (const answer of answers) t.like(answer, { left: { _tag: 'StoreUnavailable' } })
  right(await admit(first, 2, 1, 'c'))
})

test('commands that move many sessions fill an append; later commands go into the next one', async (t) => {
  const { store, appendsTo } = createFailingStore(createMemoryEventStore(), {})
  const first = await actorOn(store)
  await setCapacity(first.actor, first.environment, 1000)
  await Promise.all(Array.from({ length: 450 }, (_, index) => admit(first, 1, 1, `create-${index}`)))
  const before = appendsTo('admission').length

  const rejoin = (_: unknown, index: number) => {
    const joined = { worker: WORKER, incarnation: 'restarted', vram: 1000, knowsRestart: false }
    const command = { type: 'Join', ...joined, at: first.environment.now() } as const
    return first.actor.send({ command, commandId: `join-${index}`, correlationId: 'setup', actor: 'service' })
  }
  const joining = Promise.all(Array.from({ length: 3 }, rejoin))
  const released = await Promise.all(Array.from({ length: 95 }, (_, index) => release(first, index + 1)))
  await joining
  t.true(released.every(E.isRight))
  t.deepEqual(
    appendsTo('admission')
      .slice(before)
      .map(({ ids }) => ids.length),
    [202, 200, 145],
  )
  t.is(reservedVram(first.actor.state()), 355)
})

test('a start from the newest snapshot reads only the later events and reaches the same state', async (t) => {
  const memory = createMemoryEventStore()
  const first = await actorOn(memory, 20)
  await setCapacity(first.actor, first.environment, 1000)
  for (let index = 0; index < 95; index++) right(await admit(first, index + 1, 1, `create-${index}`))
  await first.actor.idle()

  const reads: Array<number> = []
  const counting: EventStore = {
    ...memory,
    read: async (stream, options) => {
      const events = await memory.read(stream, options)
      if (stream === 'admission') reads.push(right(events).length)
      return events
    },
  }
  const second = await actorOn(counting)
  t.deepEqual(second.actor.state(), first.actor.state())
  t.true((reads[0] ?? Infinity) < 40, `${reads[0]} events read`)
  t.is(right(await memory.read('snapshot-admission')).length, 2)
})

test('a failed snapshot write is logged and stops no command', async (t) => {
  const memory = createMemoryEventStore()
  const store: EventStore = {
    ...memory,
    append: (stream, ...rest) =>
      stream === 'snapshot-admission'
        ? Promise.reject(new Error('the snapshot could not be written'))
        : memory.append(stream, ...rest),
  }
  const first = await actorOn(store, 2)
  await setCapacity(first.actor, first.environment, 1000)
  for (let index = 0; index < 4; index++) right(await admit(first, index + 1, 1, `create-${index}`))
  await first.actor.idle()
  t.true(first.logger.lines.length > 0)
  t.true(first.logger.lines.every(({ level }) => level === 'error'))
})

test('while admissions are unreadable every command is refused, and nothing is appended', async (t) => {
  const memory = createMemoryEventStore()
  const { store, appendsTo } = createFailingStore(memory, {})
  const environment = createTestEnvironment()
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }
  const later = { id: environment.newId(), type: 'InventedLater', data: {}, metadata }
  right(await memory.append('admission', 'no-stream', [later]))
  const { actor } = await actorOn(store)
  const joining = { worker: 'worker-1', incarnation: 'i', vram: 150, knowsRestart: true }
  const command = { type: 'Join', ...joining, at: environment.now() } as const
  for (const commandId of ['first', 'second']) {
    const answer = await actor.send({ command, commandId, correlationId: commandId, actor: 'service' })
    t.is(E.isLeft(answer) && answer.left._tag, 'EventTypeUnknown')
  }
  t.deepEqual(appendsTo('admission'), [])
})
