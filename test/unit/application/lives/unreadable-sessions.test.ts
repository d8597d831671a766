import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { endLivesOf } from '../../../../application/lives/commands/end-lives-of.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { right } from '../../../support/tools/right.ts'
import { callerOf, createWriteSide, requestOf, writeSideOf } from '../../../support/worlds/write-side.ts'
import { append } from '../append-event.ts'

/** Two sessions of a process that died. The stream of the first ends with an unreadable event. */
const abandoned = async () => {
  const side = await createWriteSide()
  for (const id of [1, 2]) {
    right(await side.createLive(callerOf(1), requestOf()))
    right(await side.lifecycle.attachSender(id)())
    right(await side.lifecycle.startLive(id))
  }
  await append(side.store, 'live-1', 'InventedLater')
  return side
}

test('an unreadable session is skipped at start and in later rounds, and the others do not wait for it', async (t) => {
  const side = await abandoned()
  const restarted = writeSideOf(
    { ...side.deps, environment: { ...side.environment, instance: 'restarted' } },
    side.admission,
  )
  right(await restarted.start())
  t.is(side.typesOf('live-1').at(-1), 'InventedLater')
  t.is(side.typesOf('live-2').at(-1), 'LiveFinished')
  right(await restarted.reconcile())
  t.deepEqual(side.admission.state().open.map(({ liveId }) => liveId), [1], 'the unreadable session keeps its memory')
})

test('sessions of a dead process end even with unreadable admissions, and keep their memory', async (t) => {
  const side = await abandoned()
  await append(side.store, 'admission', 'InventedLater')
  const restarted = writeSideOf(
    { ...side.deps, environment: { ...side.environment, instance: 'restarted' } },
    side.admission,
  )
  right(await restarted.start())
  t.is(side.typesOf('live-2').at(-1), 'LiveFinished')
  t.deepEqual(side.admission.state().open.map(({ liveId }) => liveId), [1, 2])
})

test('an unreadable session does not prevent ending the other sessions of its owner', async (t) => {
  const side = await createWriteSide()
  const audioUrl = 'https://example.org/audio.m3u8'
  for (const _ of [1, 2, 3]) right(await side.createLive(callerOf(1), requestOf({ audioUrl, audioFormat: 'hls' })))
  right(await side.createLive(callerOf(1), requestOf()))
  await append(side.store, 'live-1', 'InventedLater')
  const finished = right(await side.finishLivesByAudioUrl(callerOf(1), audioUrl, { skip: 0, limit: 10 }))
  t.deepEqual(finished.items.map(({ id }) => id), [3, 2])
  const ended = await endLivesOf(side.deps)(1, { commandId: 'c', correlationId: 'c', actor: 'user:9' })
  t.like(ended, { left: { _tag: 'EventTypeUnknown', stream: 'live-1' } }, 'the caller gets the failure')
  t.deepEqual(side.admission.state().open.map(({ liveId }) => liveId), [1])
})

test('an unreadable session does not hide an unavailable store for another session', async (t) => {
  const side = await abandoned()
  const store: EventStore = {
    ...side.deps.store,
    read: (stream, options) =>
      stream === 'live-2'
        ? (async () => E.left({ _tag: 'StoreUnavailable', reason: 'simulated' }))()
        : side.deps.store.read(stream, options),
  }
  const restarted = writeSideOf(
    { ...side.deps, store, environment: { ...side.environment, instance: 'restarted' } },
    side.admission,
  )
  t.like(await restarted.start(), { left: { _tag: 'StoreUnavailable' } })
  t.like(await restarted.reconcile(), { left: { _tag: 'StoreUnavailable' } })
})
