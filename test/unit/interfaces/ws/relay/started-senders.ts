import type { ExecutionContext } from 'ava'
import { CONFIG } from './numbered-words.ts'
import type { RemoteClient } from './remote-client.ts'
import { createSenderWorld, type SenderWorld } from '../../../../simulation/relay/sender-world.ts'

type Options = NonNullable<Parameters<typeof createSenderWorld>[0]>

/** Starts workers `a` and `b`, a session on `a`, and a process without a worker. */
export const startWorld = (t: ExecutionContext, options: Options = {}) => {
  const world = createSenderWorld(options)
  t.teardown(world.close)
  world.createWorker('a')
  world.createWorker('b')
  world.join()
  world.place('a')
  return { world, api: world.createApi('api') }
}

/** Connects a sender and sends its config. */
export const connectConfigured = async (
  world: SenderWorld,
  api: ReturnType<SenderWorld['createApi']>,
): Promise<RemoteClient> => {
  const client = api.connect()
  await world.pass(1000)
  await client.joining
  client.send(CONFIG)
  await world.pass(100)
  return client
}

/** Sends the audio frames in real time. */
export const speak = async (
  world: SenderWorld,
  client: RemoteClient,
  frames: ReadonlyArray<Uint8Array>,
): Promise<void> => {
  for (const frame of frames) {
    client.send(frame)
    await world.pass(100)
  }
}
