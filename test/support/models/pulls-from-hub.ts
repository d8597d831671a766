import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createHubHttp } from '../../../infrastructure/model-hub/hub-http.ts'
import { pullModel, type PullOptions } from '../../../infrastructure/model-hub/pull.ts'
import { startHub, type TestHub } from './hub.ts'
import { temporaryDirectory } from '../tools/temporary-directory.ts'

/** The folder of the model that the test hub serves, and its id at the hub. */
export const HUB_MODEL_FOLDER = 'test/support/fixtures/engine/tiny-whisper'
export const HUB_MODEL = 'someone/tiny-whisper'

/** Pulls the model into a models directory. Waits between attempts are recorded instead of awaited. */
export const pullInto = async (modelsDir: string, hub: TestHub, changes: Partial<PullOptions> = {}) => {
  const waits: Array<number> = []
  const pulled = await pullModel({
    source: { kind: 'hub', http: createHubHttp(hub.url), ids: [HUB_MODEL], revision: 'main' },
    modelsDir,
    name: 'mine',
    precision: null,
    force: false,
    check: async () => ({}),
    onProgress: () => undefined,
    wait: async (milliseconds) => void waits.push(milliseconds),
    ...changes,
  }).then(E.right, (error: unknown) => E.left(error instanceof Error ? error.message : String(error)))
  return { pulled, waits }
}

/** Starts a hub with the model and `more` files, and creates an empty models directory. */
export const startHubWithModels = async (t: ExecutionContext, more: Readonly<Record<string, Buffer>> = {}) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  const hub = await startHub(t, HUB_MODEL, HUB_MODEL_FOLDER, more)
  return { hub, modelsDir: join(directory.path, 'models') }
}
