import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { SESSION_LISTS, type RebuildProgress } from '../../../application/ports/projector.ts'
import { rebuildJob } from '../../../interfaces/compose/jobs.ts'
import { lives } from '../../../projections/lives/projection.ts'
import { modelOf } from '../../../projections/projection.ts'
import { leaseOf } from '../../../projections/projector.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { right } from '../../support/tools/right.ts'
import { advanceLive, createProjectorProcesses } from '../../support/read-models/projector-processes.ts'

/** Projects a log of 30 sessions in one process, then removes the document of session 7. */
const startWithLostDocument = async (t: Parameters<typeof createProjectorProcesses>[0]) => {
  const world = createProjectorProcesses(t, [lives])
  const holder = world.start('holder')
  let position = await advanceLive(world.store, 1)
  for (let liveId = 2; liveId <= 30; liveId++) position = await advanceLive(world.store, liveId)
  await holder.projector.whenProjected(SESSION_LISTS, position)
  // `whenProjected` times out on a busy machine.
  await eventually(async () => assert.ok(O.isSome(right(await world.documents.get('lives', '30')))))
  const loss = { kind: 'remove', collection: 'lives', id: '7', position } as const
  const { documents, leases } = world
  const checkpoint = right(await documents.checkpoint(modelOf(lives)))
  right(await documents.commit(modelOf(lives), [loss], checkpoint, leases.tokenOf(leaseOf(lives))))
  return { world, holder }
}

test('a rebuild runs in the process that holds the projection, and the requester gets the result', async (t) => {
  const { world } = await startWithLostDocument(t)
  const requester = world.start('requester', { requestsLeases: false })
  const progresses: Array<RebuildProgress> = []
  const requested = await requester.projector.rebuild('lives', (progress) => void progresses.push(progress))
  t.like(right(requested), { projection: 'lives', events: 30, corrected: 1, resumed: false })
  t.true(progresses.every(({ projection }) => projection === 'lives'))
  t.deepEqual(await world.differences(), [])
  const secondRebuild = await rebuildJob(requester.projector).run(
    { subject: 'lives' } as never,
    () => undefined,
    new AbortController().signal,
  )
  t.like(secondRebuild, { right: { read_models: [{ name: 'lives', events: 30, corrected: 0 }] } })
  t.deepEqual(
    await requester.projector.rebuild('unknown', () => undefined),
    E.left('unknown projection unknown. Use one of lives'),
  )
})

test('without a holder the request waits, and the next holder rebuilds', async (t) => {
  const { world, holder } = await startWithLostDocument(t)
  await holder.stop()
  const requester = world.start('requester', { requestsLeases: false })
  const progresses: Array<RebuildProgress> = []
  const requested = requester.projector.rebuild('lives', (progress) => void progresses.push(progress))
  await eventually(() => assert.match(progresses.at(-1)?.held ?? '', /has not begun/))
  const secondRequester = world.start('second requester', { requestsLeases: false })
  const alsoRequested = secondRequester.projector.rebuild('lives', () => undefined)
  world.start('next')
  // Both requests may share one rebuild. With two rebuilds only the first has something to correct.
  const corrected = [right(await requested), right(await alsoRequested)].map((rebuilt) => rebuilt.corrected)
  t.true(corrected.includes(1), corrected.join())
  t.deepEqual(await world.differences(), [])
})

test('when the rebuilding process loses its lease, the next holder rebuilds', async (t) => {
  const { world, holder } = await startWithLostDocument(t)
  const next = world.start('next')
  void next.projector.finishRebuilds()
  const own = holder.projector.rebuild('lives', () => undefined)
  holder.freeze()
  const requester = world.start('requester', { requestsLeases: false })
  const requested = requester.projector.rebuild('lives', () => undefined)
  await requested
  holder.thaw()
  t.true(E.isRight(await requested))
  t.true(E.isRight(await own), 'the former holder waits for the new holder')
  t.deepEqual(await world.differences(), [])
  const position = await advanceLive(world.store, 31)
  await Promise.all([holder, next].map(({ projector }) => projector.whenProjected(SESSION_LISTS, position)))
  t.deepEqual(await world.differences(), [])
})
