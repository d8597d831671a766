import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import type { Checkpointed, Documents } from '../../../application/ports/documents.ts'
import { BEGINNING, type Position } from '../../../application/ports/event-store.ts'
import { SESSION_LISTS } from '../../../application/ports/projector.ts'
import { liveCounts } from '../../../projections/live-counts/projection.ts'
import { lives } from '../../../projections/lives/projection.ts'
import { modelOf, type Projection } from '../../../projections/projection.ts'
import { leaseOf } from '../../../projections/projector.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { committed, throughCommit } from '../../support/read-models/through-commit.ts'
import { right } from '../../support/tools/right.ts'
import {
  advanceLive, createProjectorProcesses, type ProjectorProcess,
} from '../../support/read-models/projector-processes.ts'

const PROJECTIONS = [lives, liveCounts]
const LEASE = leaseOf(lives)

const lagOf = ({ projector }: ProjectorProcess, name = 'lives') => {
  const lag = projector.lag().find(({ projection }) => projection === name)
  assert.ok(lag)
  return lag
}

test('two processes share the projections: each runs one, and both know the progress of both', async (t) => {
  const world = createProjectorProcesses(t, PROJECTIONS)
  const [a, b] = [world.start('a'), world.start('b')]
  world.leases.depose(leaseOf(liveCounts))
  const owned = () => [a, b].map((process) => PROJECTIONS.map(({ name }) => lagOf(process, name).isOwn))
  await eventually(() => assert.deepEqual(owned(), [[true, false], [false, true]]))
  await Promise.all([a.projector.caughtUp(), b.projector.caughtUp()])
  for (let liveId = 1; liveId <= 20; liveId++) {
    const position = await advanceLive(world.store, liveId)
    await Promise.all([a, b].map(({ projector }) => projector.whenProjected(SESSION_LISTS, position)))
    t.true(lagOf(a).position >= position && lagOf(b).position >= position)
  }
  t.deepEqual([a.projector.timeouts(), b.projector.timeouts()], [0, 0])
  t.deepEqual(await world.differences(), [])
})

/** The projection of a later version: other documents under another name. */
const newVersion: Projection = {
  ...lives,
  name: 'lives-2',
  collection: { ...lives.collection, name: 'lives-2' },
  project: (current, event, id) => {
    const next = lives.project(current, event, id)
    return next === null || next === current ? next : { ...next, shape: 2 }
  },
}

test('two versions project in parallel, even during a rebuild and after one version stops', async (t) => {
  const world = createProjectorProcesses(t, [lives, newVersion])
  const oldProcess = world.start('old', { ownProjections: [lives] })
  const newProcess = world.start('new', { ownProjections: [newVersion] })
  const advance = async (liveId: number, ...seenBy: ReadonlyArray<ProjectorProcess>): Promise<void> => {
    const position = await advanceLive(world.store, liveId)
    await eventually(() => {
      for (const { projector } of seenBy) for (const { position: seen } of projector.lag()) assert.ok(seen >= position)
    })
  }
  for (let liveId = 1; liveId <= 10; liveId++) await advance(liveId, oldProcess, newProcess)
  t.deepEqual([lives, newVersion].map((projection) => world.leases.holderOf(leaseOf(projection))), ['old', 'new'])
  const rebuilt = newProcess.projector.rebuild('lives-2', () => undefined)
  for (let liveId = 1; liveId <= 10; liveId++) await advance(liveId, oldProcess, newProcess)
  t.true(E.isRight(await rebuilt))
  await oldProcess.stop()
  await advance(11, newProcess)
  t.like(right(await world.documents.get('lives-2', '11')), { value: { shape: 2 } })
  await newProcess.projector.caughtUp()
  const restarted = world.start('old again', { ownProjections: [lives] })
  await restarted.projector.caughtUp()
  await advance(12, restarted, newProcess)
  t.deepEqual(await world.differences(), [])
})

test('a process without projections waits for the progress of the others', async (t) => {
  const world = createProjectorProcesses(t, PROJECTIONS)
  const watcher = world.start('watcher', { requestsLeases: false })
  t.like(lagOf(watcher), { hasCaughtUp: false, isOwn: false })
  const position = await advanceLive(world.store, 1)
  await watcher.projector.whenProjected(SESSION_LISTS, position)
  t.is(watcher.projector.timeouts(), 1, 'no process runs the projections')
  const runner = world.start('runner')
  await watcher.projector.caughtUp()
  t.true(lagOf(watcher).position >= position)
  t.like(lagOf(watcher), { hasCaughtUp: true, isOwn: false, error: null, secondsBehind: 0 })
  const next = await advanceLive(world.store, 2)
  await watcher.projector.whenProjected(SESSION_LISTS, next)
  t.is(watcher.projector.timeouts(), 1)
  t.true(right(await world.documents.find('lives', ['2'])).has('2'))
  await runner.stop()
})

test('a frozen holder writes no checkpoint after a takeover, and its late documents are refused', async (t) => {
  const world = createProjectorProcesses(t, [lives])
  const [a, b] = [world.start('a'), world.start('b')]
  await a.projector.whenProjected(SESSION_LISTS, await advanceLive(world.store, 1))
  a.freeze()
  const position = await advanceLive(world.store, 1)
  await b.projector.whenProjected(SESSION_LISTS, position)
  t.is(world.leases.holderOf(LEASE), 'b')
  const lateCommit = () => world.documents.commit(
    modelOf(lives),
    [],
    { position: '9'.repeat(20) as Position, last: null },
    world.leases.tokenOf(LEASE) - 1,
  )
  t.true(E.isLeft(await lateCommit()))
  a.thaw()
  await a.projector.whenProjected(SESSION_LISTS, await advanceLive(world.store, 2))
  await eventually(() => assert.equal(lagOf(a).isOwn, false))
  t.deepEqual(await world.differences(), [])
  world.leases.depose(LEASE)
  await eventually(() => assert.equal(lagOf(a).isOwn, true))
  await b.projector.whenProjected(SESSION_LISTS, await advanceLive(world.store, 3))
  t.is(b.projector.timeouts(), 0)
  t.deepEqual(await world.differences(), [])
})

/** Checks the rules at each commit and throws when one is broken. */
const checked = (positionsOf: () => ReadonlyMap<string, Position>) => (documents: Documents): Documents => {
  const tokens = new Map<string, number>()
  const isLives = (model: Checkpointed) => model.collection === 'lives'
  return throughCommit(documents, async (commit) => {
    const { whose, token } = commit
    const done = await committed(documents, commit)
    if (E.isLeft(done) || !isLives(whose)) return done
    assert.ok(
      token >= (tokens.get(whose.projection) ?? 0),
      `token ${token} wrote after ${tokens.get(whose.projection)}`,
    )
    tokens.set(whose.projection, token)
    const checkpointed = right(await documents.checkpoint(whose)).position
    const stored = new Map(right(await documents.scan('lives', null, 1000)).map(({ id, position }) => [id, position]))
    for (const [id, position] of positionsOf())
      if (position <= checkpointed)
        assert.ok(
          (stored.get(id) ?? BEGINNING) >= position,
          `the checkpoint ${checkpointed} is ahead of session ${id}`,
        )
    return done
  })
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

test('with random kills, freezes and late writes the read models equal the fold of the log', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const newest = new Map<string, Position>()
      const violations: Array<unknown> = []
      const world = createProjectorProcesses(t, PROJECTIONS, (documents) => {
        const strict = checked(() => newest)(documents)
        return throughCommit(strict, async (commit) => {
          try {
            return await committed(strict, commit)
          } catch (error) {
            violations.push(error)
            throw error
          }
        })
      })
      let started = 3
      const processes = ['p1', 'p2', 'p3'].map((name) => world.start(name))
      const append = async (liveId: number): Promise<Position> => {
        const position = await advanceLive(world.store, liveId)
        // Events after the third change no document.
        const { length } = right(await world.store.read(`live-${liveId}`))
        if (length <= 3) newest.set(String(liveId), position)
        return position
      }
      for (const [action, n] of steps) {
        const index = n % 3
        if (action === 'append') await append(n + 1)
        if (action === 'append many') for (let count = 0; count < 4; count++) await append(1 + ((n + count) % 8))
        if (action === 'depose') world.leases.depose(leaseOf(n % 2 === 0 ? lives : liveCounts))
        if (action === 'freeze') processes[index]?.freeze()
        if (action === 'thaw') processes[index]?.thaw()
        if (action === 'kill') {
          processes[index]?.kill()
          processes[index] = world.start(`p${(started += 1)}`)
        }
        await new Promise((resolve) => setTimeout(resolve, action === 'turn' ? n : 0))
      }
      for (const process of processes) process.thaw()
      const last = await append(9)
      await eventually(() => {
        for (const { projector } of processes)
          for (const lag of projector.lag()) assert.ok(lag.position >= last, `${lag.projection} ${JSON.stringify(lag)}`)
      })
      await eventually(async () => assert.deepEqual(await world.differences(), []))
      assert.deepEqual(violations, [])
      await Promise.all(processes.map(({ stop }) => stop()))
    }),
    { numRuns: 12, endOnFailure: true, includeErrorInReport: true },
  )
  t.pass()
})
