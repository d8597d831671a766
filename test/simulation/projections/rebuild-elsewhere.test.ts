import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { RebuildProgress } from '../../../application/ports/projector.ts'
import { rebuildJob } from '../../../interfaces/compose/jobs/rebuild-job.ts'
import { lives } from '../../../projections/lives/projection.ts'
import { modelOf } from '../../../projections/projection.ts'
import { leaseOf } from '../../../projections/projector.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { right } from '../../support/tools/right.ts'
import { advanceLive, createProjectorProcesses } from '../../support/read-models/projector-processes.ts'

/** A log of some lives, and a process that has projected them, whose documents then lose one. */
const damaged = async (t: Parameters<typeof createProjectorProcesses>[0]) => {
  const world = createProjectorProcesses(t, [lives])
  const holder = world.start('holder')
  let position = await advanceLive(world.store, 1)
  for (let liveId = 2; liveId <= 30; liveId++) position = await advanceLive(world.store, liveId)
  await holder.projector.whenProjected(position)
  // Which gives up on a busy machine.
  await eventually(async () => assert.ok(O.isSome(right(await world.documents.get('lives', '30')()))))
  const loss = { kind: 'remove', collection: 'lives', id: '7', position } as const
  const { documents, leases } = world
  const checkpoint = right(await documents.checkpoint(modelOf(lives))())
  right(await documents.commit(modelOf(lives), [loss], checkpoint, leases.tokenOf(leaseOf(lives)))())
  return { world, holder }
}

test('a rebuild runs in the process that holds the projection, and the requester gets the result', async (t) => {
  const { world } = await damaged(t)
  const asker = world.start('asker', { seeks: false })
  const told: Array<RebuildProgress> = []
  const asked = await asker.projector.rebuild('lives', (progress) => void told.push(progress))
  t.like(right(asked), { projection: 'lives', events: 30, corrected: 1, resumed: false })
  t.true(told.every(({ projection }) => projection === 'lives'))
  t.deepEqual(await world.differences(), [])
  const again = await rebuildJob(asker.projector).run(
    { subject: 'lives' } as never,
    () => undefined,
    new AbortController().signal,
  )
  t.like(again, { right: { read_models: [{ name: 'lives', events: 30, corrected: 0 }] } })
  t.deepEqual(
    await asker.projector.rebuild('nobody', () => undefined),
    E.left('unknown projection nobody. Use one of lives'),
  )
})

test('without a holder the request waits, and the next holder rebuilds', async (t) => {
  const { world, holder } = await damaged(t)
  await holder.stop()
  const asker = world.start('asker', { seeks: false })
  const told: Array<RebuildProgress> = []
  const asked = asker.projector.rebuild('lives', (progress) => void told.push(progress))
  await eventually(() => assert.match(told.at(-1)?.held ?? '', /has not begun/))
  const other = world.start('other asker', { seeks: false })
  const alsoAsked = other.projector.rebuild('lives', () => undefined)
  world.start('next')
  // Of one rebuild for both, or of one each: what was wrong is mended by the first.
  const corrected = [right(await asked), right(await alsoAsked)].map((rebuilt) => rebuilt.corrected)
  t.true(corrected.includes(1), corrected.join())
  t.deepEqual(await world.differences(), [])
})

test('when the rebuilding process loses its lease, the next holder rebuilds', async (t) => {
  const { world, holder } = await damaged(t)
  const next = world.start('next')
  void next.projector.finishRebuilds()
  const own = holder.projector.rebuild('lives', () => undefined)
  holder.freeze()
  const asker = world.start('asker', { seeks: false })
  const asked = asker.projector.rebuild('lives', () => undefined)
  await asked
  holder.thaw()
  t.true(E.isRight(await asked))
  t.true(E.isRight(await own), 'it asks the one that has taken over')
  t.deepEqual(await world.differences(), [])
  const position = await advanceLive(world.store, 31)
  await Promise.all([holder, next].map(({ projector }) => projector.whenProjected(position)))
  t.deepEqual(await world.differences(), [])
})
