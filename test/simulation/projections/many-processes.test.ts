import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import type { Checkpointed, Documents } from '../../../application/ports/documents.ts'
import { BEGINNING } from '../../../application/ports/event-store.ts'
import type { Position } from '../../../application/ports/event-store.ts'
import { liveCounts } from '../../../projections/live-counts/projection.ts'
import { lives } from '../../../projections/lives/projection.ts'
import { modelOf } from '../../../projections/projection.ts'
import type { Projection } from '../../../projections/projection.ts'
import { leaseOf } from '../../../projections/projector.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { right } from '../../support/tools/right.ts'
import { advanceLive, createProjectorProcesses } from '../../support/read-models/projector-processes.ts'
import type { ProjectorProcess } from '../../support/read-models/projector-processes.ts'

const PROJECTIONS = [lives, liveCounts]
const LEASE = leaseOf(lives)

const lagOf = ({ projector }: ProjectorProcess, name = 'lives') => {
  const lag = projector.lag().find(({ projection }) => projection === name)
  assert.ok(lag)
  return lag
}

test('two processes share the projections: one runs each, and both answer for all', async (t) => {
  const world = createProjectorProcesses(t, PROJECTIONS)
  const [a, b] = [world.start('a'), world.start('b')]
  world.leases.depose(leaseOf(liveCounts))
  const owned = () => [a, b].map((one) => PROJECTIONS.map(({ name }) => lagOf(one, name).isOwn))
  await eventually(() => assert.deepEqual(owned(), [[true, false], [false, true]]))
  await Promise.all([a.projector.caughtUp(), b.projector.caughtUp()])
  for (let liveId = 1; liveId <= 20; liveId++) {
    const position = await advanceLive(world.store, liveId)
    await Promise.all([a.projector.whenProjected(position), b.projector.whenProjected(position)])
    t.true(lagOf(a).position >= position && lagOf(b).position >= position)
  }
  t.deepEqual([a.projector.timeouts(), b.projector.timeouts()], [0, 0])
  t.deepEqual(await world.differences(), [])
})

/** As a later version has it: it makes other documents, under a name of its own. */
const later: Projection = {
  ...lives,
  name: 'lives-2',
  collection: { ...lives.collection, name: 'lives-2' },
  project: (current, event, id) => {
    const made = lives.project(current, event, id)
    return made === null || made === current ? made : { ...made, shape: 2 }
  },
}

test('two versions project side by side, also during a rebuild and after the end of one', async (t) => {
  const world = createProjectorProcesses(t, [lives, later])
  const [one, two] = [world.start('one', { own: [lives] }), world.start('two', { own: [later] })]
  const advance = async (liveId: number, ...seenBy: ReadonlyArray<ProjectorProcess>): Promise<void> => {
    const position = await advanceLive(world.store, liveId)
    await eventually(() => {
      for (const { projector } of seenBy) for (const { position: seen } of projector.lag()) assert.ok(seen >= position)
    })
  }
  for (let liveId = 1; liveId <= 10; liveId++) await advance(liveId, one, two)
  t.deepEqual([lives, later].map((projection) => world.leases.holderOf(leaseOf(projection))), ['one', 'two'])
  const rebuilt = two.projector.rebuild('lives-2', () => undefined)
  for (let liveId = 1; liveId <= 10; liveId++) await advance(liveId, one, two)
  t.true(E.isRight(await rebuilt))
  await one.stop()
  await advance(11, two)
  t.like(right(await world.documents.get('lives-2', '11')()), { value: { shape: 2 } })
  await two.projector.caughtUp()
  const back = world.start('one again', { own: [lives] })
  await back.projector.caughtUp()
  await advance(12, back, two)
  t.deepEqual(await world.differences(), [])
})

test('a process without projections waits for the progress of the others', async (t) => {
  const world = createProjectorProcesses(t, PROJECTIONS)
  const watcher = world.start('watcher', { seeks: false })
  t.like(lagOf(watcher), { hasCaughtUp: false, isOwn: false })
  const position = await advanceLive(world.store, 1)
  await watcher.projector.whenProjected(position)
  t.is(watcher.projector.timeouts(), 1, 'nobody runs them')
  const runner = world.start('runner')
  await watcher.projector.caughtUp()
  t.true(lagOf(watcher).position >= position)
  t.like(lagOf(watcher), { hasCaughtUp: true, isOwn: false, error: null, secondsBehind: 0 })
  const next = await advanceLive(world.store, 2)
  await watcher.projector.whenProjected(next)
  t.is(watcher.projector.timeouts(), 1)
  t.true(right(await world.documents.find('lives', ['2'])()).has('2'))
  await runner.stop()
})

test('a frozen holder moves no checkpoint after a takeover, and its documents are guarded', async (t) => {
  const world = createProjectorProcesses(t, [lives])
  const [a, b] = [world.start('a'), world.start('b')]
  await a.projector.whenProjected(await advanceLive(world.store, 1))
  a.freeze()
  const position = await advanceLive(world.store, 1)
  await b.projector.whenProjected(position)
  t.is(world.leases.holderOf(LEASE), 'b')
  const late = world.documents.commit(
    modelOf(lives),
    [],
    { position: '9'.repeat(20) as Position, last: null },
    world.leases.tokenOf(LEASE) - 1,
  )
  t.true(E.isLeft(await late()))
  a.thaw()
  await a.projector.whenProjected(await advanceLive(world.store, 2))
  await eventually(() => assert.equal(lagOf(a).isOwn, false))
  t.deepEqual(await world.differences(), [])
  world.leases.depose(LEASE)
  await eventually(() => assert.equal(lagOf(a).isOwn, true))
  await b.projector.whenProjected(await advanceLive(world.store, 3))
  t.is(b.projector.timeouts(), 0)
  t.deepEqual(await world.differences(), [])
})

/** Holds what the processes commit to the rules; throws where one is broken. */
const judged = (positionsOf: () => ReadonlyMap<string, Position>) => (documents: Documents): Documents => {
  const tokens = new Map<string, number>()
  const isModel = (whose: Checkpointed) => whose.collection === 'lives'
  return {
    ...documents,
    commit: (whose, changes, checkpoint, token = 0) => async () => {
      const done = await documents.commit(whose, changes, checkpoint, token)()
      if (E.isLeft(done) || !isModel(whose)) return done
      assert.ok(
        token >= (tokens.get(whose.projection) ?? 0),
        `token ${token} wrote behind ${tokens.get(whose.projection)}`,
      )
      tokens.set(whose.projection, token)
      const stands = right(await documents.checkpoint(whose)()).position
      const stored = new Map(
        right(await documents.scan('lives', null, 1000)()).map(({ id, position }) => [id, position]),
      )
      for (const [id, position] of positionsOf())
        if (position <= stands)
          assert.ok((stored.get(id) ?? BEGINNING) >= position, `the checkpoint ${stands} is ahead of live ${id}`)
      return done
    },
  }
}

type Step = 'append' | 'append many' | 'depose' | 'freeze' | 'thaw' | 'kill' | 'turn'
const step: fc.Arbitrary<readonly [Step, number]> = fc.tuple(
  fc.constantFrom<Step>(
    'append',
    'append',
    'append many',
    'append many',
    'depose',
    'depose',
    'freeze',
    'freeze',
    'thaw',
    'kill',
    'turn',
    'turn',
  ),
  fc.nat({ max: 7 }),
)

test('with random kills, freezes and late writers the read models equal the fold of the log', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const newest = new Map<string, Position>()
      const broken: Array<unknown> = []
      const world = createProjectorProcesses(t, PROJECTIONS, (documents) => {
        const strict = judged(() => newest)(documents)
        return {
          ...strict,
          commit:
            (...asked) =>
            async () => {
              try {
                return await strict.commit(...asked)()
              } catch (error) {
                broken.push(error)
                throw error
              }
            },
        }
      })
      let started = 3
      const processes = ['p1', 'p2', 'p3'].map((name) => world.start(name))
      const append = async (liveId: number): Promise<Position> => {
        const position = await advanceLive(world.store, liveId)
        // A later one changes no document.
        const { length } = right(await world.store.read(`live-${liveId}`)())
        if (length <= 3) newest.set(String(liveId), position)
        return position
      }
      for (const [what, n] of steps) {
        const index = n % 3
        if (what === 'append') await append(n + 1)
        if (what === 'append many') for (let count = 0; count < 4; count++) await append(1 + ((n + count) % 8))
        if (what === 'depose') world.leases.depose(leaseOf(n % 2 === 0 ? lives : liveCounts))
        if (what === 'freeze') processes[index]?.freeze()
        if (what === 'thaw') processes[index]?.thaw()
        if (what === 'kill') {
          processes[index]?.kill()
          processes[index] = world.start(`p${(started += 1)}`)
        }
        await new Promise((resolve) => setTimeout(resolve, what === 'turn' ? n : 0))
      }
      for (const process of processes) process.thaw()
      const last = await append(9)
      await eventually(() => {
        for (const { projector } of processes)
          for (const lag of projector.lag()) assert.ok(lag.position >= last, `${lag.projection} ${JSON.stringify(lag)}`)
      })
      await eventually(async () => assert.deepEqual(await world.differences(), []))
      assert.deepEqual(broken, [])
      await Promise.all(processes.map(({ stop }) => stop()))
    }),
    { numRuns: 12, endOnFailure: true, includeErrorInReport: true },
  )
  t.pass()
})
