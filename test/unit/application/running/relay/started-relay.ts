import { createRandom } from '../../../../support/tools/seeded.ts'
import { createRelayApi } from './relay-api.ts'
import { createRelayLog } from './relay-log.ts'
import { createRelayWorker } from './relay-worker.ts'

/** Starts worker `a` with the session, worker `b` and a process with sockets. */
export const startRelay = async (senders?: Parameters<typeof createRelayWorker>[2]) => {
  const world = createRelayLog(createRandom('relay'))
  const a = createRelayWorker(world, 'a', senders)
  const b = createRelayWorker(world, 'b')
  world.join(a, b)
  world.place('a')
  await a.settle()
  return { world, a, b, api: createRelayApi(world, 'p') }
}
