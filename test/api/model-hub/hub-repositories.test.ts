import { join } from 'node:path'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { readManifest } from '../../../infrastructure/onnx/model-files/manifest.ts'
import { modelNameOf, repositoriesOf } from '../../../infrastructure/catalogue/models.ts'
import { createHubHttp } from '../../../infrastructure/model-hub/hub-http.ts'
import { startHubWithModels, HUB_MODEL, pullInto } from '../../support/models/pulls-from-hub.ts'

test('the first existing repository is pulled; a repository that answers 5xx stops the pull', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  const http = createHubHttp(hub.url)
  const from = (ids: ReadonlyArray<string>, name: string) =>
    pullInto(modelsDir, hub, { name, source: { kind: 'hub', http, ids, revision: 'main' } })
  for (const [name, ids] of Object.entries({
    second: ['someone/tiny-whisper_timestamped', HUB_MODEL],
    first: [HUB_MODEL, 'nobody/nothing'],
  })) {
    const { pulled } = await from(ids, name)
    t.true(E.isRight(pulled), JSON.stringify(pulled))
    t.is(orThrow(await readManifest(join(modelsDir, name)))?.source, HUB_MODEL)
  }
  t.false(hub.requests.some((line) => line.includes('nobody')))

  hub.faults.push({ path: /timestamped/, times: Infinity, kind: { status: 500 } })
  const { pulled } = await from(['someone/tiny-whisper_timestamped', HUB_MODEL], 'third')
  t.regex(E.isLeft(pulled) ? pulled.left : '', /answered 500/)
})

test('a model name maps to repositories, first with word timestamps; a repository maps back to the name', (t) => {
  t.deepEqual(repositoriesOf('base'), ['onnx-community/whisper-base_timestamped', 'Xenova/whisper-base'])
  t.deepEqual(repositoriesOf('Xenova/whisper-base'), [])
  t.deepEqual(['whisper-base_timestamped', 'whisper-large-v3_timestamped', 'mine_timestamped'].map(modelNameOf), [
    'base',
    'large-v3',
    'mine_timestamped',
  ])
})
