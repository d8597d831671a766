import { cp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { readManifest, writeManifest } from '../../../infrastructure/onnx/model-files/manifest.ts'
import { verifyFolder } from '../../../infrastructure/catalogue/verify-folder.ts'
import { sha256Of } from '../../../infrastructure/files/file-hash.ts'
import { externalTensor, withWeightsIn } from '../../support/engine/external-graphs.ts'
import { GRAPH, message, MODEL } from '../../../infrastructure/onnx/graphs/onnx-format.ts'
import { DEMO, SIMON, openEngine, simon, textOf, transcribe } from '../../support/engine/test-engine.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const ENCODER = 'onnx/encoder_model_quantized.onnx'
const DATA = `${ENCODER}_data`

/** A copy of the demo model whose graphs have their weights in files next to them. */
const modelOfManyFiles = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const folder = join(path, 'model')
  await cp(DEMO, folder, { recursive: true })
  for (const name of await readdir(join(folder, 'onnx'))) {
    const { graph, data } = withWeightsIn(await readFile(join(folder, 'onnx', name)), `${name}_data`)
    await writeFile(join(folder, 'onnx', name), graph)
    await writeFile(join(folder, 'onnx', `${name}_data`), data)
  }
  return folder
}

test('a model with its weights in further files gives the same text, and verify records all files', async (t) => {
  const folder = await modelOfManyFiles(t)
  const { engine } = openEngine(t, { models: new Map([['many', folder], ['changed', folder]]) })
  t.is(textOf(await transcribe(engine, simon, 'many')), SIMON)
  const config = (await readFile(join(folder, 'config.json'))).length
  const known = { path: 'config.json', size: config, sha256: await sha256Of(join(folder, 'config.json')) }
  await writeManifest(folder, { files: [known] })
  t.like(await verifyFolder(folder), { problem: null, kept: true })
  const paths = orThrow(await readManifest(folder))?.files.map(({ path }) => path)
  t.deepEqual(paths?.[0], 'config.json')
  t.true(paths?.includes(DATA), 'verify adds the files that an earlier manifest does not name')

  await writeFile(join(folder, DATA), (await readFile(join(folder, DATA))).map((byte) => byte ^ 1))
  const verified = await verifyFolder(folder)
  t.like(verified.files.find(({ path }) => path === DATA), { state: 'hash' })
  const refused = await engine.load('changed')
  t.regex(E.isLeft(refused) ? refused.left.reason : '', new RegExp(`^${DATA} differs from the hash`))
})

test('a model that names the key of the service, or a link to it, is neither loaded nor verified', async (t) => {
  const folder = await modelOfManyFiles(t)
  const { engine } = openEngine(t, { models: new Map([['hostile', folder]]) })
  const reasonOf = async () => {
    const loaded = await engine.load('hostile')
    const { files } = await verifyFolder(folder)
    const problem = files.find(({ path }) => path === ENCODER)
    t.is(problem?.state, 'damaged')
    const reason = E.isLeft(loaded) ? loaded.left.reason : 'loaded'
    t.is(problem?.detail, reason)
    return reason
  }
  const encoder = await readFile(join(folder, ENCODER))
  const named = message(MODEL.GRAPH, message(GRAPH.INITIALIZER, externalTensor('data/master.key', 32)))
  await writeFile(join(folder, ENCODER), Buffer.concat([encoder, named]))
  t.regex(await reasonOf(), /wants weights from "data\/master\.key"; only files encoder_model_quantized\.onnx_data…/)

  await writeFile(join(folder, ENCODER), encoder)
  await rm(join(folder, DATA))
  await writeFile(join(folder, 'master.key'), 'the master key')
  await symlink('../master.key', join(folder, DATA))
  t.regex(await reasonOf(), /cannot be used: it is a link/)
})

test('an engine runs in an empty directory of its own, which disappears with it', async (t) => {
  const { engine } = openEngine(t)
  const directoryOf = (pid: number | undefined) => readlink(`/proc/${pid ?? 0}/cwd`)
  t.is(textOf(await transcribe(engine, simon)), SIMON)
  const first = engine.pid()
  const directory = await directoryOf(first)
  t.not(directory, process.cwd())
  t.deepEqual(await readdir(directory), [])
  t.is((await stat(directory)).mode & 0o777, 0o700)

  // Programs that clean temporary files up may delete it.
  await rm(directory, { recursive: true })
  t.is(textOf(await transcribe(engine, simon)), SIMON)
  process.kill(first ?? 0, 'SIGKILL')
  const second = await eventually(async () => {
    if (engine.pid() === first || engine.pid() === undefined) throw new Error('the engine has not started again')
    return await directoryOf(engine.pid())
  })
  t.not(second, directory)
  t.is(textOf(await transcribe(engine, simon)), SIMON)
  await engine.close()
  await t.throwsAsync(stat(second), { code: 'ENOENT' })
})
