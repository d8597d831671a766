import assert from 'node:assert/strict'
import type { ExecutionContext } from 'ava'
import { eventually } from '../../../support/tools/eventually.ts'
import {
  admitted, appendElsewhere, created, finished, startWorker, URL_LIVE,
} from '../../../simulation/workers/one-worker.ts'
import type { WorkerStores } from '../../../simulation/workers/worker-world.ts'

/** Checks that a worker starts an admitted session of another process, stops it, and ignores an unadmitted one. */
export const startsAndStops = async (t: ExecutionContext, shared: WorkerStores): Promise<void> => {
  let finishProjection: () => void = () => undefined
  const whenProjected = (): Promise<void> => new Promise((resolve) => { finishProjection = resolve })
  const { pullers, admission, sessions, logger } = await startWorker(t, shared, { whenProjected })
  t.teardown(() => finishProjection())
  await appendElsewhere(shared, 'admission', 'Admitted', admitted)
  await appendElsewhere(shared, 'live-7', 'LiveCreated', created({ ...URL_LIVE, audioUrlHash: 'h' }))
  await eventually(() => assert.partialDeepStrictEqual(pullers.latest().targets, [{ url: URL_LIVE.audioUrl }]))
  await appendElsewhere(shared, 'live-7', 'LiveFinished', finished)
  await eventually(() => assert.ok(pullers.latest().stopped), { timeoutMs: 1000 })
  await eventually(() => {
    // The sockets are notified once the read models show the end. Stopping does not wait for that.
    finishProjection()
    assert.equal(sessions.count(), 0)
  })
  t.deepEqual(admission.state().open, [], 'the memory is released')

  await appendElsewhere(shared, 'live-8', 'LiveCreated', created({ ...URL_LIVE, audioUrlHash: 'h', liveId: 8 }))
  await eventually(() =>
    assert.ok(
      logger.lines.some(({ message }) => message === 'a session was created without a reservation: it is not started'),
    ),
  )
  t.is(pullers.all.length, 1)
}
