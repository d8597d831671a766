import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { createAdmissionActor } from '../../../../application/admission/admission-actor.ts'
import { eraseDeletedLives } from '../../../../application/lives/policies/erase-deleted-lives.ts'
import { LIVES } from '../../../../projections/lives/document.ts'
import { createDyingProcess } from '../../../support/doubles/dying-process.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { right } from '../../../support/tools/right.ts'
import { createRecordingLogger, silentLogger } from '../../../support/doubles/loggers.ts'
import { callerOf, createWriteSide, requestOf, writeSideOf } from '../../../support/worlds/write-side.ts'
import { sealedIn } from '../../../support/events/stored-data.ts'

const owner = callerOf(1, { permissions: ['user_retention'] })
const segment = {
  liveId: 1,
  segment: 1,
  start: 0,
  end: 1,
  text: 'the secret',
  kind: 'transcription' as const,
  language: 'en',
}
const NOT_FOUND = E.left({ _tag: 'LiveNotFound' } as const)

const start = async () => {
  const side = await createWriteSide()
  right(await side.createLive(owner, requestOf({ retention: true })))
  right(await side.lifecycle.recordSegment(segment))
  const sealed = side.log().flatMap(sealedIn)
  return { ...side, sealed }
}

test('a deletion ends the session, releases its memory and destroys its keys', async (t) => {
  const { deleteLive, typesOf, admission, deps, sealed, store, project, documents } = await start()
  t.is(sealed.length, 3)
  right(await deleteLive(owner, 1))
  t.deepEqual(typesOf('live-1'), ['LiveCreated', 'LiveFinished', 'LiveDeleted'])
  t.is(admission.state().open.length, 0)
  t.deepEqual(
    right(await deps.keyring.open(sealed)),
    ['live-1', 'live-1', 'text-1'].map((key) => E.left({ _tag: 'KeyErased', key })),
  )
  t.deepEqual(right(await store.read('segments-1')), [])
  await project()
  t.true(O.isNone(right(await documents.get(LIVES, '1'))))
})

test('only the owner can delete a session, once, and nothing can be done with it afterwards', async (t) => {
  const { deleteLive, finishLive, lifecycle, typesOf } = await start()
  t.deepEqual(await deleteLive(callerOf(2), 1), NOT_FOUND)
  t.deepEqual(await deleteLive(owner, 2), NOT_FOUND)
  t.deepEqual(typesOf('live-1'), ['LiveCreated'])
  const answers = await Promise.all([deleteLive(owner, 1), deleteLive(owner, 1), deleteLive(owner, 1)])
  t.is(answers.filter(E.isRight).length, 1)
  t.deepEqual(await deleteLive(owner, 1), NOT_FOUND)
  t.deepEqual(await finishLive(owner, 1), NOT_FOUND)
  t.deepEqual(await lifecycle.attachSender(1)(), E.left({ _tag: 'LiveOver' }))
  t.like(await lifecycle.recordSegment({ ...segment, segment: 2 }), { left: { _tag: 'KeyErased' } })
  t.is(typesOf('live-1').filter((type) => type === 'LiveDeleted').length, 1)
})

test('a repeated create does not restore a deleted session', async (t) => {
  const { createLive, deleteLive, log } = await createWriteSide()
  right(await createLive(owner, requestOf(), 'command-1'))
  right(await deleteLive(owner, 1))
  t.deepEqual(await createLive(owner, requestOf(), 'command-1'), NOT_FOUND)
  t.is(log().filter(({ type }) => type === 'LiveCreated').length, 1)
})

for (const when of ['before', 'after'] as const)
  test(`when a process dies ${when} any of its writes, the next start completes the deletion`, async (t) => {
    for (let lastWrite = 0; ; lastWrite++) {
      const { deps, documents, store, sealed, typesOf } = await start()
      const dying = createDyingProcess(deps, lastWrite, when)
      const admission = await createAdmissionActor({ ...deps, ...dying, logger: silentLogger })
      const answer = await dying.outlive(writeSideOf({ ...deps, ...dying }, admission).deleteLive(owner, 1))
      const isDeleted = typesOf('live-1').includes('LiveDeleted')
      t.is(lastWrite > 0 || when === 'after', isDeleted, 'the first write stores the deletion')

      const logger = createRecordingLogger()
      const next = await createAdmissionActor({ ...deps, logger: silentLogger })
      right(await writeSideOf(deps, next).reconcile())
      const duty = eraseDeletedLives({ ...deps, documents, logger, timers: immediateTimers })
      if (isDeleted) {
        await eventually(async () => {
          const opened = right(await deps.keyring.open(sealed))
          if (opened.some(E.isRight) || right(await store.read('segments-1')).length > 0)
            throw new Error('not erased yet')
        })
        t.is(next.state().open.length, 0)
      } else {
        t.is(right(await deps.keyring.open(sealed)).filter(E.isRight).length, 3)
        t.is(next.state().open.length, 1)
      }
      await duty.stop()
      t.deepEqual(logger.lines, [])
      if (answer === 'died') continue
      right(answer)
      t.is(lastWrite, 4, 'one write each for the event, the release, the keys and the segments')
      return
    }
  })

test('a refused erasure is retried until it succeeds', async (t) => {
  const { deps, documents, sealed } = await start()
  let failures = 2
  const keyring = {
    ...deps.keyring,
    erase: async (keys: ReadonlyArray<string>) =>
      failures-- > 0
        ? E.left({ _tag: 'KeyringUnavailable', reason: 'test' } as const)
        : await deps.keyring.erase(keys),
  }
  t.like(await writeSideOf({ ...deps, keyring }, deps.admission).deleteLive(owner, 1), {
    left: { _tag: 'KeyringUnavailable' },
  })
  const logger = createRecordingLogger()
  const duty = eraseDeletedLives({ ...deps, keyring, documents, logger, timers: immediateTimers })
  await eventually(async () => {
    if (right(await deps.keyring.open(sealed)).some(E.isRight)) throw new Error('not erased yet')
  })
  await duty.stop()
  t.is(logger.lines.filter(({ level }) => level === 'warn').length, 1)
})
