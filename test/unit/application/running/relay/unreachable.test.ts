import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { AdmissionRequest } from '../../../../../application/admission/admission-actor.ts'
import { moveUnreachable } from '../../../../../application/running/relay/move-unreachable.ts'
import type { RemoteSender } from '../../../../../application/running/relay/remote-sender.ts'
import { createPlacements } from '../../../../../application/running/relay/placements.ts'
import { initialState } from '../../../../../domain/admission/state.ts'
import { createRandom } from '../../../../support/tools/seeded.ts'
import { createTestEnvironment } from '../../../../support/doubles/environment.ts'
import { createRelayApi } from './relay-api.ts'
import { createRelayLog, LIVE } from './relay-log.ts'
import { createRelayWorker } from './relay-worker.ts'

const SENDER: RemoteSender = {
  linkUp: () => undefined,
  message: () => undefined,
  linkDown: () => undefined,
  over: () => undefined,
}

/** Starts two workers and a process with sockets. Worker `a` runs the session. Tests then cut the connection to it. */
const startWorkersAndSockets = async () => {
  const world = createRelayLog(createRandom('unreachable'))
  const [a, b] = [createRelayWorker(world, 'a'), createRelayWorker(world, 'b')]
  world.join(a, b)
  world.place('a')
  await a.settle()
  const [self, view] = [{ name: 'p', incarnation: 'run of p' }, world.viewOf()]
  const members = { self, all: () => world.members }
  const sent: Array<AdmissionRequest['command']> = []
  const admission = {
    ...view,
    offering: () => undefined,
    send: async ({ command }: Pick<AdmissionRequest, 'command'>) => {
      sent.push(command)
      return E.right(initialState)
    },
  }
  const { timers, logger } = world
  const move = moveUnreachable({
    admission, members, links: world.network.linksOf('p'), placements: createPlacements({ admission, members }),
    environment: { ...createTestEnvironment(), ...world.environment }, timers, logger,
  })
  const api = createRelayApi(world, 'p', null, move)
  return { world, api, sent }
}

test('a session whose sender is local is moved after its worker was unreachable for 8 s', async (t) => {
  const { world, api, sent } = await startWorkersAndSockets()
  api.remote.sender(LIVE, SENDER)
  await world.pass(500)
  world.network.cut('p', 'a')
  await world.pass(11_000)
  t.deepEqual(sent, [])
  await world.pass(3000)
  t.like(sent[0], { type: 'Move', liveId: LIVE, term: 1, to: 'b' })
  await world.pass(50_000)
  t.is(sent.length, 1, 'the move is requested at most once a minute')
  await world.pass(20_000)
  t.is(sent.length, 2, 'the move is requested again, because the session is still assigned to the unreachable worker')
})

test('no move is requested for a session with only listeners, or when its worker is reachable again', async (t) => {
  const { world, api, sent } = await startWorkersAndSockets()
  api.listen(null)
  await world.pass(500)
  world.network.cut('p', 'a')
  await world.pass(30_000)
  api.remote.sender(LIVE, SENDER)
  world.network.mend('p', 'a')
  await world.pass(30_000)
  t.deepEqual(sent, [])
})

test('a process that reaches no worker requests no move', async (t) => {
  const { world, api, sent } = await startWorkersAndSockets()
  api.remote.sender(LIVE, SENDER)
  await world.pass(500)
  world.network.cut('p', 'a')
  world.network.cut('p', 'b')
  await world.pass(60_000)
  t.deepEqual(sent, [])
})
