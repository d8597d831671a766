import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import * as fc from 'fast-check'
import { NO_CHECKPOINT, type Commit, type Documents } from '../../../application/ports/documents.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { differencesOf, foldLog } from '../../../projections/fold-log.ts'
import { modelOf } from '../../../projections/projection.ts'
import { startProjector } from '../../../projections/projector.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { advanceLive } from '../../support/read-models/projector-processes.ts'
import { right } from '../../support/tools/right.ts'
import { SINGLE_PROCESS_LEASES } from '../../support/worlds/single-process-leases.ts'

const LIVES = 700

/** A log of more than two batches, in which many sessions change in several batches. */
const createLog = async () => {
  const store = createMemoryEventStore()
  for (let change = 0; change < 4; change++)
    for (let liveId = 1; liveId <= LIVES; liveId++) await advanceLive(store, liveId)
  return store
}

const never = (): Promise<never> => new Promise(() => undefined)

/**
 * The documents of a process that dies before its request number `deathAt`. As on a server, a commit has one request
 * for each list and then one for all checkpoints.
 */
const dying = (documents: Documents, deathAt: number) => {
  const death = Promise.withResolvers<void>()
  let requests = 0
  const request = async <A>(run: () => Promise<A>): Promise<A> => {
    requests += 1
    if (requests >= deathAt) {
      death.resolve()
      return await never()
    }
    const answer = await run()
    await setImmediate()
    return answer
  }
  const store = ({ changes }: Commit) =>
    request(() => documents.commit({ projection: 'none', collection: null }, changes, NO_CHECKPOINT))
  return {
    died: death.promise,
    documents: {
      ...documents,
      find: (...args) => request(() => documents.find(...args)),
      commitAll: async (commits) => {
        for (const commit of commits) right(await store(commit))
        return await request(() => documents.commitAll(commits.map((commit) => ({ ...commit, changes: [] }))))
      },
    } satisfies Documents as Documents,
  }
}

test('after crashes at any requests, all lists equal a fold of the log', async (t) => {
  const log = await createLog()
  const to = right(await log.head())
  const { signal } = new AbortController()
  const folded = createMemoryDocuments()
  right(await folded.ensure(allProjections.map(({ collection }) => collection)))
  for (const projection of allProjections)
    await foldLog({ store: log, documents: folded }, projection, { from: NO_CHECKPOINT, to, signal })

  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 4 }), async (deaths) => {
      const documents = createMemoryDocuments()
      const run = (used: Documents) => {
        const stopping = new AbortController()
        const projector = startProjector({
          store: log, documents: used, projections: allProjections, leases: SINGLE_PROCESS_LEASES, code: 'test',
          logger: createRecordingLogger(), environment: createTestEnvironment(), timers: systemTimers,
          signal: stopping.signal,
        })
        return { projector, stop: () => stopping.abort() }
      }
      for (const deathAt of deaths) {
        const process = dying(documents, deathAt)
        const { projector, stop } = run(process.documents)
        await Promise.race([process.died, projector.caughtUp()])
        stop()
      }
      const { projector, stop } = run(documents)
      await projector.caughtUp()
      stop()
      await projector.stopped
      for (const projection of allProjections) {
        const collection = projection.collection.name
        for await (const difference of differencesOf({ documents, collection }, { documents: folded, collection }))
          assert.fail(`${projection.name} ${JSON.stringify(difference)}`)
        assert.equal(right(await documents.checkpoint(modelOf(projection))).position, to)
      }
    }),
    { numRuns: 10 },
  )
  t.pass()
})
