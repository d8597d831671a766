import { cp, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { MANIFEST_FILE, readManifest, writeManifest } from '../../../infrastructure/onnx/model-files/manifest.ts'
import { createHubHttp } from '../../../infrastructure/model-hub/hub-http.ts'
import { openStaging } from '../../../infrastructure/model-hub/staging.ts'
import { HUB_MODEL_FOLDER, startHubWithModels, HUB_MODEL, pullInto } from '../../support/models/pulls-from-hub.ts'
import { GRAPH, message, MODEL } from '../../../infrastructure/onnx/graphs/onnx-format.ts'
import { externalTensor } from '../../support/engine/external-graphs.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { ENCODER, NEEDED, contentOf, entries } from './pulled-files.ts'

const SMALL = Buffer.from('a graph of another precision')

test('a pulled model has exactly the files the engine needs, with their hashes and source', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t, {
    'onnx/encoder_model_fp16.onnx': SMALL,
    'README.md': SMALL,
    'onnx/encoder_model_q4.onnx': SMALL,
  })
  const steps: Array<readonly [number, number]> = []
  const { pulled } = await pullInto(modelsDir, hub, { onProgress: (done, total) => void steps.push([done, total]) })
  t.true(E.isRight(pulled), JSON.stringify(pulled))
  const folder = join(modelsDir, 'mine')
  t.deepEqual(await contentOf(folder), await contentOf(HUB_MODEL_FOLDER))
  t.deepEqual(await entries(folder), [
    'config.json',
    'generation_config.json',
    'onnx',
    'preprocessor_config.json',
    'stenolog.json',
    'tokenizer.json',
    'tokenizer_config.json',
  ])
  t.deepEqual(await entries(modelsDir), ['mine'], 'no other folder is left')
  const manifest = orThrow(await readManifest(folder))
  t.like(manifest, { source: HUB_MODEL, commit: hub.commit, precision: 'fp32' })
  t.deepEqual(manifest?.files.map(({ path }) => path), NEEDED)
  t.true(manifest?.files.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256)))
  t.deepEqual([...hub.sent.keys()].sort(), [...NEEDED].sort(), 'no other file was downloaded')
  t.true(
    hub.requests.some((line) => line.startsWith('GET /api/resolve-cache/')) &&
      hub.requests.some((line) => line.startsWith('storage ')),
  )
  t.true(
    steps.every(([done, total], i) => done <= total && done >= (steps[i - 1]?.[0] ?? 0)),
    'progress never goes back',
  )
  t.is(steps.at(-1)?.[0], steps.at(-1)?.[1])
})

test('an interrupted pull resumes from its finished files, and only one pull of a model runs at a time', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  hub.faults.push({ path: /with_past/, times: Infinity, kind: { status: 404 } })
  const first = await pullInto(modelsDir, hub)
  t.regex(E.isLeft(first.pulled) ? first.pulled.left : '', /answered 404/)
  t.deepEqual(await entries(modelsDir), ['.pulling'], 'the folder of the model does not exist yet')
  const staging = await openStaging(modelsDir, 'mine')
  const busy = await pullInto(modelsDir, hub)
  t.regex(E.isLeft(busy.pulled) ? busy.pulled.left : '', /another process is pulling mine/)
  await staging.close()
  // A foreign file and a damaged file in the partial download must not get into the model.
  await writeFile(join(modelsDir, '.pulling/mine/files/notes.txt'), 'not of the model')
  await writeFile(join(modelsDir, '.pulling/mine/files/config.json'), '{}')
  hub.faults.length = 0
  const sentBefore = hub.sent.get(ENCODER)
  t.true(E.isRight((await pullInto(modelsDir, hub)).pulled))
  t.is(hub.sent.get(ENCODER), sentBefore, 'a complete file is not downloaded again')
  t.deepEqual(await contentOf(join(modelsDir, 'mine')), await contentOf(HUB_MODEL_FOLDER))
  t.false((await entries(join(modelsDir, 'mine'))).includes('notes.txt'))
})

test.serial('every user can read an installed model, whatever the umask of the command is', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  const before = process.umask(0o077)
  t.teardown(() => process.umask(before))
  t.true(E.isRight((await pullInto(modelsDir, hub)).pulled))
  const folder = join(modelsDir, 'mine')
  const modes = async (wanted: number, paths: ReadonlyArray<string>) => {
    for (const path of paths) t.is((await stat(path)).mode & 0o777, wanted, path)
  }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const [folders, files] = [true, false].map((isFolder) =>
    entries.filter((entry) => entry.isDirectory() === isFolder).map(({ parentPath, name }) => join(parentPath, name)),
  )
  await modes(0o755, [modelsDir, folder, ...(folders ?? [])])
  await modes(0o644, files ?? [])
  await writeManifest(folder, { files: [] })
  await modes(0o644, [join(folder, MANIFEST_FILE)])
})

test('an installed model is replaced only with --force, and only by a complete model', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  await mkdir(modelsDir, { recursive: true })
  await cp('models/demo-en', join(modelsDir, 'mine'), { recursive: true })
  const refused = await pullInto(modelsDir, hub)
  t.regex(E.isLeft(refused.pulled) ? refused.pulled.left : '', /mine is already installed .*--force/)
  const failed = await pullInto(modelsDir, hub, {
    force: true,
    check: async () => Promise.reject(new Error('it does not load')),
  })
  t.deepEqual(failed.pulled, E.left('it does not load'))
  t.true(
    (await entries(join(modelsDir, 'mine/onnx'))).includes('encoder_model_quantized.onnx'),
    'the old model is kept',
  )
  const vram = { megabytes: 17, weights: 5 }
  const forced = await pullInto(modelsDir, hub, { force: true, check: async () => ({ vram }) })
  t.true(E.isRight(forced.pulled) && forced.pulled.right.manifest.vram?.megabytes === 17)
  t.deepEqual(await contentOf(join(modelsDir, 'mine')), await contentOf(HUB_MODEL_FOLDER))
})

test('a model that is too large for the disk or of an unsupported type is not downloaded', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  hub.change('config.json', Buffer.from('{"model_type":"bart"}'))
  const bart = await pullInto(modelsDir, hub)
  t.regex(E.isLeft(bart.pulled) ? bart.pulled.left : '', /of the type bart: only whisper and marian/)
  t.deepEqual([...hub.sent.keys()], ['config.json'])

  const large = await startHubWithModels(t)
  const http = createHubHttp(large.hub.url)
  const json: typeof http.json = async (url) => {
    const { body, next } = await http.json(url)
    const grown = Array.isArray(body)
      ? body.map((entry: { lfs?: object }) =>
          entry.lfs === undefined ? entry : { ...entry, lfs: { ...entry.lfs, size: 1e15 } },
        )
      : body
    return { body: grown, next }
  }
  const { pulled } = await pullInto(large.modelsDir, large.hub, {
    source: { kind: 'hub', http: { ...http, json }, ids: [HUB_MODEL], revision: 'main' },
  })
  t.regex(E.isLeft(pulled) ? pulled.left : '', /MB free, but the model needs \d+ MB/)
  t.is(large.hub.sent.size, 0)
})

test('a local directory is copied under the same rules as a download', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  const { pulled } = await pullInto(modelsDir, hub, { source: { kind: 'directory', path: HUB_MODEL_FOLDER } })
  t.true(E.isRight(pulled), JSON.stringify(pulled))
  t.deepEqual(await contentOf(join(modelsDir, 'mine')), await contentOf(HUB_MODEL_FOLDER))
  const incomplete = await pullInto(modelsDir, hub, {
    name: 'other',
    source: { kind: 'directory', path: dirname(HUB_MODEL_FOLDER) },
  })
  t.regex(
    E.isLeft(incomplete.pulled) ? incomplete.pulled.left : '',
    /^test\/support\/fixtures\/engine: missing files: config\.json, tokenizer\.json, tokenizer_config\.json$/,
  )
})

test('a model that wants weights from other files is not installed, even without a trial', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  await cp(HUB_MODEL_FOLDER, path, { recursive: true })
  const source = { kind: 'directory', path } as const
  const pullRefusal = async () => {
    const { pulled } = await pullInto(modelsDir, hub, { source })
    t.false((await entries(modelsDir)).includes('mine'))
    return E.isLeft(pulled) ? pulled.left : 'installed'
  }
  const encoder = await readFile(join(path, ENCODER))
  const named = (location: string) =>
    message(MODEL.GRAPH, message(GRAPH.INITIALIZER, externalTensor(location, 4)))
  await writeFile(join(path, ENCODER), Buffer.concat([encoder, named('../../master.key')]))
  t.regex(await pullRefusal(), /^onnx\/encoder_model\.onnx cannot be used: .*wants weights from "\.\.\/\.\.\/mast/)

  await writeFile(join(path, ENCODER), Buffer.concat([encoder, named('encoder_model.onnx_data')]))
  await writeFile(join(path, 'master.key'), 'the master key')
  await symlink('../master.key', join(path, `${ENCODER}_data`))
  t.regex(await pullRefusal(), /onnx\/encoder_model\.onnx_data is a link; copy the folder/)
})

test('without a mirror only https to public addresses is allowed', async (t) => {
  const http = createHubHttp()
  t.is(http.url('/x').origin, 'https://huggingface.co')
  const refused = (url: string) => http.open(new URL(url)).then(() => '', (error: unknown) => String(error))
  t.regex(await refused('http://huggingface.co/x'), /http: is not https/)
  t.regex(await refused('file:///etc/passwd'), /is not https/)
  t.regex(await refused('https://127.0.0.1:1/x'), /no public address/)
  t.regex(await refused('https://[::1]:1/x'), /no public address/)
  t.regex(await refused('https://localhost:1/x'), /no public address/)
})
