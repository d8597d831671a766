import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createAdmissionActor } from '../../../../application/admission/admission-actor.ts'
import { createDyingProcess } from '../../../support/doubles/dying-process.ts'
import { toSnapshot } from '../../../../domain/admission/snapshot.ts'
import { after } from '../../../support/events/sample-events.ts'
import { right } from '../../../support/tools/right.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { silentLogger } from '../../../support/doubles/loggers.ts'
import { callerOf, createWriteSide, requestOf, writeSideOf } from '../../../support/worlds/write-side.ts'
import { dataOf } from '../../../support/events/stored-data.ts'

const owner = callerOf(1, { permissions: ['user_retention'] })
const refused = (_tag: string) => ({ left: { _tag } })
const request = requestOf({ listenerToken: 'hall' })

test('a repeated request gets the first answer; without a key each request creates a session', async (t) => {
  const { createLiveOnce, finishLive, log } = await createWriteSide()
  const first = right(await createLiveOnce(owner, requestOf(), 'key-1'))
  right(await finishLive(owner, first.id))
  t.deepEqual(right(await createLiveOnce(owner, requestOf(), 'key-1')), first)
  t.is(right(await createLiveOnce(owner, requestOf(), 'key-2')).id, 2)
  t.is(right(await createLiveOnce(callerOf(2), requestOf(), 'key-1')).id, 3, 'keys of different users are independent')
  t.is(right(await createLiveOnce(owner, requestOf(), null)).id, 4)
  t.is(right(await createLiveOnce(owner, requestOf(), null)).id, 5)
  t.false(JSON.stringify(log()).includes('key-1'))
})

test('a process that stops, or that knows no worker, refuses every create before all other checks', async (t) => {
  let [isDraining, isWorkerKnown] = [false, true]
  const { createLiveOnce, log } = await createWriteSide({
    isDraining: () => isDraining, isWorkerKnown: () => isWorkerKnown,
  })
  right(await createLiveOnce(owner, requestOf(), 'key-1'))
  const before = log().length
  const refusals = () => Promise.all([
    createLiveOnce(owner, requestOf({ model: 'unknown' }), null),
    createLiveOnce(owner, requestOf(), 'key-1'),
    createLiveOnce(owner, requestOf({ retention: true }), 'key-1'),
  ])
  isWorkerKnown = false
  for (const answer of await refusals()) t.like(answer, refused('NoWorker'))
  isDraining = true
  for (const answer of await refusals()) t.like(answer, refused('ShuttingDown'))
  t.is(log().length, before)
})

test('another body with the same key is refused, and so is a repeat while the first request runs', async (t) => {
  const { createLiveOnce, log } = await createWriteSide()
  const answers = await Promise.all([
    createLiveOnce(owner, requestOf(), 'key-1'),
    createLiveOnce(owner, requestOf(), 'key-1'),
    createLiveOnce(owner, requestOf({ retention: true }), 'key-1'),
    createLiveOnce(callerOf(2), requestOf(), 'key-1'),
  ])
  t.deepEqual(answers.map(E.isRight), [true, false, false, true])
  t.like(answers[1], refused('RequestStillRunning'))
  t.like(answers[2], refused('IdempotencyKeyReused'))
  t.like(await createLiveOnce(owner, requestOf({ retention: true }), 'key-1'), refused('IdempotencyKeyReused'))
  t.is(log().filter(({ type }) => type === 'LiveCreated').length, 2)
})

test('a refused request can be repeated with its key; an answered one ignores a lower quota', async (t) => {
  const { createLiveOnce, finishLive } = await createWriteSide({ capacity: 1 })
  const first = right(await createLiveOnce(owner, requestOf(), 'key-1'))
  t.like(await createLiveOnce(owner, requestOf(), 'key-2'), refused('InsufficientVram'))
  right(await finishLive(owner, first.id))
  const second = right(await createLiveOnce(owner, requestOf(), 'key-2'))
  t.true(second.id > first.id)
  right(await finishLive(owner, second.id))
  const third = right(await createLiveOnce(owner, requestOf({ model: 'm1', translations: [] }), 'key-3'))
  t.deepEqual(
    right(await createLiveOnce(callerOf(1, { maxSessions: 0 }), requestOf(), 'key-3')),
    third,
    'the quota is not checked again',
  )
})

test('refused requests leave nothing, however many keys they invent', async (t) => {
  const { createLiveOnce, log } = await createWriteSide()
  const before = log().length
  for (let n = 0; n < 50; n += 1) {
    t.like(await createLiveOnce(owner, requestOf({ model: 'unknown' }), `key-${n}`), refused('ModelNotFound'))
    t.like(await createLiveOnce(callerOf(2, { maxSessions: 0 }), requestOf(), `key-${n}`), refused('QuotaReached'))
  }
  t.is(log().length, before)
})

test('equal requests at two processes create one session; another body with the key creates none', async (t) => {
  const { deps, admission, log } = await createWriteSide()
  const [first, second] = [writeSideOf(deps, admission), writeSideOf(deps, admission)]
  const equal = await Promise.all([first, second].map((side) => side.createLiveOnce(owner, requestOf(), 'key-1')))
  t.deepEqual(right(equal[0] ?? E.left('none')), right(equal[1] ?? E.left('none')))
  const other = await Promise.all([
    first.createLiveOnce(owner, requestOf(), 'key-2'),
    second.createLiveOnce(owner, requestOf({ retention: true }), 'key-2'),
  ])
  t.is(other.filter(E.isRight).length, 1)
  t.like(other.find(E.isLeft), refused('IdempotencyKeyReused'))
  t.is(log().filter(({ type }) => type === 'LiveCreated').length, 2)
})

test('a lower limit of translations does not affect the answer to a repeat', async (t) => {
  const { createLiveOnce } = await createWriteSide()
  const request = requestOf({ translations: ['es', 'de'] })
  const first = right(await createLiveOnce(owner, request, 'key-1'))
  t.deepEqual(right(await createLiveOnce(callerOf(1, { maxTranslations: 1 }), request, 'key-1')), first)
})

test('a deleted session is not found by its key and not created again', async (t) => {
  const { createLiveOnce, deleteLive } = await createWriteSide()
  const { id } = right(await createLiveOnce(owner, requestOf(), 'key-1'))
  right(await deleteLive(owner, id))
  t.like(await createLiveOnce(owner, requestOf(), 'key-1'), refused('LiveNotFound'))
})

test('a repeated request finds its session by the key for 24 hours', async (t) => {
  let minutes = 0
  const environment = { ...createTestEnvironment(), now: () => after(minutes * 60_000) }
  const { createLiveOnce, admission } = await createWriteSide({ environment })
  const first = right(await createLiveOnce(owner, request, 'key-1'))
  minutes = 11
  right(await createLiveOnce(owner, requestOf(), 'key-2'))
  t.is(toSnapshot(admission.state(), 0).commands.length, 1)
  t.deepEqual(right(await createLiveOnce(owner, request, 'key-1')), first)
  minutes = 24 * 60 - 1
  t.deepEqual(right(await createLiveOnce(owner, request, 'key-1')), first)
  minutes = 24 * 60
  t.true(right(await createLiveOnce(owner, request, 'key-1')).id > first.id)
})

test('when the session of a key was fenced, a repeat creates another session', async (t) => {
  let at = after(0)
  const environment = { ...createTestEnvironment(), now: () => at }
  const { deps, log } = await createWriteSide({ environment })
  const dying = createDyingProcess(deps, 3, 'before')
  const admission = await createAdmissionActor({ ...deps, ...dying, logger: silentLogger })
  t.is(
    await dying.outlive(writeSideOf({ ...deps, ...dying }, admission).createLiveOnce(owner, request, 'key-1')),
    'died',
  )
  t.deepEqual(
    log()
      .map(({ type }) => type)
      .slice(1),
    ['Admitted', 'IdempotencyKeyUsed', 'IdempotencyKeyAdmitted'],
  )

  const side = writeSideOf(deps, await createAdmissionActor({ ...deps, logger: silentLogger }))
  at = after(11 * 60_000)
  right(await side.reconcile())
  const repeated = right(await side.createLiveOnce(owner, request, 'key-1'))
  t.is(repeated.id, 2)
  t.deepEqual(right(await side.createLiveOnce(owner, request, 'key-1')), repeated)
})

for (const when of ['before', 'after'] as const)
  test(`when a process dies ${when} any of its writes, a repeat finds or creates one session`, async (t) => {
    for (let lastWrite = 0; ; lastWrite++) {
      const { deps, log } = await createWriteSide({ capacity: 1 })
      const dying = createDyingProcess(deps, lastWrite, when)
      const admission = await createAdmissionActor({ ...deps, ...dying, logger: silentLogger })
      const answer = await dying.outlive(
        writeSideOf({ ...deps, ...dying }, admission).createLiveOnce(owner, request, 'key-1'),
      )
      const claimed = log().some(({ type }) => type === 'IdempotencyKeyUsed')
      const createdId = log()
        .filter(({ type }) => type === 'LiveCreated')
        .map(dataOf)[0]?.['liveId']

      const environment = { ...deps.environment, instance: 'restarted' }
      const next = await createAdmissionActor({ ...deps, environment, logger: silentLogger })
      const side = writeSideOf({ ...deps, environment }, next)
      right(await side.reconcile())
      if (claimed) t.like(await side.createLiveOnce(owner, requestOf(), 'key-1'), refused('IdempotencyKeyReused'))
      const repeated = right(await side.createLiveOnce(owner, request, 'key-1'))
      t.deepEqual(right(await side.createLiveOnce(owner, request, 'key-1')), repeated)
      t.is(log().filter(({ type }) => type === 'LiveCreated').length, 1)
      t.deepEqual(next.state().open.map(({ liveId }) => liveId), [repeated.id])
      if (createdId !== undefined) t.is(repeated.id, Number(createdId))
      if (answer === 'died') continue
      t.deepEqual(right(answer), repeated)
      t.is(lastWrite, 5, 'one write each for admission, key, lifetime of the key, token and session')
      return
    }
  })

test('requests that were undone while the keyring was unavailable do not use up their key', async (t) => {
  let isReachable = false
  const { createLiveOnce, log } = await createWriteSide({ keyring: createMemoryKeyring(() => isReachable) })
  for (let count = 0; count < 5; count += 1)
    t.like(await createLiveOnce(owner, requestOf(), 'key-1'), refused('KeyringUnavailable'))
  isReachable = true
  const created = right(await createLiveOnce(owner, requestOf(), 'key-1'))
  t.deepEqual(right(await createLiveOnce(owner, requestOf(), 'key-1')), created)
  t.is(log().filter(({ type }) => type === 'LiveCreated').length, 1)
})
