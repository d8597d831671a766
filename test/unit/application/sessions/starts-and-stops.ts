import assert from 'node:assert/strict'
import type { ExecutionContext } from 'ava'
import { eventually } from '../../../support/tools/eventually.ts'
import { admitted, appendElsewhere, created, finished, startWorker, URL_LIVE } from '../one-worker.ts'
import type { WorkerStores } from '../../../simulation/workers/worker-world.ts'

/** What a worker hears of lives that others write into the log: one that is admitted, and one that is not. */
export const startsAndStops = async (t: ExecutionContext, on: WorkerStores): Promise<void> => {
  let list: () => void = () => undefined
  const whenProjected = (): Promise<void> => new Promise((resolve) => { list = resolve })
  const { pullers, admission, sessions, logger } = await startWorker(t, on, { whenProjected })
  t.teardown(() => list())
  await appendElsewhere(on, 'admission', 'Admitted', admitted)
  await appendElsewhere(on, 'live-7', 'LiveCreated', created({ ...URL_LIVE, audioUrlHash: 'h' }))
  await eventually(() => assert.deepEqual(pullers.latest().targets, [{ url: URL_LIVE.audioUrl, mediaSequence: null }]))
  await appendElsewhere(on, 'live-7', 'LiveFinished', finished)
  await eventually(() => assert.ok(pullers.latest().stopped), { timeoutMs: 1000 })
  await eventually(() => {
    // Its sockets hear of it once the lists show it: nobody waits for that to stop.
    list()
    assert.equal(sessions.count(), 0)
  })
  t.deepEqual(admission.state().open, [], 'its memory is given back')

  await appendElsewhere(on, 'live-8', 'LiveCreated', created({ ...URL_LIVE, audioUrlHash: 'h', liveId: 8 }))
  await eventually(() =>
    assert.ok(
      logger.lines.some(({ message }) => message === 'a session was created without a reservation: it is not started'),
    ),
  )
  t.is(pullers.all.length, 1)
}
