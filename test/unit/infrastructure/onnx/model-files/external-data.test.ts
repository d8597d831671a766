import { createHash } from 'node:crypto'
import { link, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { orThrow } from '../../../../../domain/shared/or-throw.ts'
import { MANIFEST_FILE, readManifest, writeManifest } from '../../../../../infrastructure/onnx/model-files/manifest.ts'
import { verifyFolder } from '../../../../../infrastructure/catalogue/verify-folder.ts'
import { externalLocations } from '../../../../../infrastructure/onnx/model-files/external-data.ts'
import { readGraphFiles } from '../../../../../infrastructure/onnx/model-files/graph-files.ts'
import { openSession } from '../../../../../infrastructure/onnx/sessions.ts'
import {
  constantNode, EVERYWHERE, externalGraph, externalTensor, GRAPH_NAME, initializer,
} from '../../../../support/engine/external-graphs.ts'
import { temporaryDirectory } from '../../../../support/tools/temporary-directory.ts'

const SECRET = Buffer.from('the master key!!')
const WEIGHTS = Buffer.from('the real weights')
const DATA = `${GRAPH_NAME}_data`

/** A model folder with the graph and its data file, next to a data directory with a key. */
const modelWith = async (t: ExecutionContext, graph: Uint8Array) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const folder = join(path, 'model', 'onnx')
  const key = join(path, 'master.key')
  await mkdir(folder, { recursive: true })
  await writeFile(key, SECRET)
  await writeFile(join(folder, GRAPH_NAME), graph)
  await writeFile(join(folder, DATA), WEIGHTS)
  return { folder, key, graph: join(folder, GRAPH_NAME), data: join(folder, DATA), manifest: join(path, 'model') }
}

/** Returns the bytes that the graph returns as `y`. */
const outputOf = async (file: string): Promise<string> => {
  const session = await openSession(file)
  const { y } = await session.run({})
  await session.release()
  return Buffer.from(y?.data as Uint8Array).toString()
}

test('weights in files next to the graph are used, for constants and for nodes', async (t) => {
  for (const part of [initializer, constantNode])
    for (const name of [DATA, `${DATA}_1`]) {
      const model = await modelWith(t, externalGraph(part(name, WEIGHTS.length)))
      if (name !== DATA) await rename(model.data, join(model.folder, name))
      t.is(await outputOf(model.graph), WEIGHTS.toString(), name)
    }
})

test('a graph that names any other file is refused, wherever in the model it does so', async (t) => {
  const names = [
    'master.key', '../../master.key', '/etc/hostname', `./${DATA}`, `../onnx/${DATA}`, `${DATA}/../../../master.key`,
    `${DATA}\0/../master.key`, `other.onnx_data`, '', '*/_ORT_MEM_ADDR_/*', 'data/master.key',
  ]
  for (const name of names)
    for (const part of [initializer, constantNode]) {
      const model = await modelWith(t, externalGraph(part(name, SECRET.length)))
      await t.throwsAsync(openSession(model.graph), { message: /only files graph\.onnx_data… next to it/ }, name)
    }
  for (const [place, model] of Object.entries(EVERYWHERE(externalTensor('data/master.key', 4))))
    t.deepEqual([...externalLocations(model)], ['data/master.key'], place)
})

test.serial('a key in the working directory is not read, although the graph is rewritten in memory', async (t) => {
  for (const part of [initializer, constantNode]) {
    const model = await modelWith(t, externalGraph(part('master.key', SECRET.length)))
    const before = process.cwd()
    t.teardown(() => process.chdir(before))
    process.chdir(dirname(model.key))
    for (const isExact of [false, true])
      await t.throwsAsync(openSession(model.graph, { isExact }), { message: /wants weights from "master\.key"/ })
  }
})

test('a link instead of weights is refused, also when it replaces the file after the check', async (t) => {
  const model = await modelWith(t, externalGraph(initializer(DATA, WEIGHTS.length)))
  const { externalData } = await readGraphFiles(model.graph)
  await rm(model.data)
  await symlink(model.key, model.data)
  t.is(Buffer.from(externalData[0]?.data ?? []).toString(), WEIGHTS.toString(), 'what was checked is what is used')
  await t.throwsAsync(openSession(model.graph), { message: /cannot be used: it is a link/ })
  await rm(model.data)
  await mkdir(model.data)
  await t.throwsAsync(openSession(model.graph), { message: /cannot be used: it is no regular file/ })
  await rm(model.data, { recursive: true })
  await t.throwsAsync(openSession(model.graph), { message: /cannot be used: ENOENT/ })
  await writeFile(model.data, WEIGHTS)
  await link(model.data, join(model.folder, 'second name'))
  t.is(await outputOf(model.graph), WEIGHTS.toString(), 'a hard link is a regular file')
})

test('a graph or weights that differ from the manifest are refused; a manifest may name neither', async (t) => {
  const model = await modelWith(t, externalGraph(initializer(DATA, WEIGHTS.length)))
  const graph = externalGraph(initializer(DATA, WEIGHTS.length))
  const record = (name: string, content: Uint8Array) => {
    const sha256 = createHash('sha256').update(content).digest('hex')
    return { path: `onnx/${name}`, size: content.length, sha256 }
  }
  const loadWith = async (...files: ReadonlyArray<ReturnType<typeof record>>) => {
    await writeManifest(model.manifest, { files })
    return outputOf(model.graph)
  }
  t.is(await loadWith(), WEIGHTS.toString())
  t.is(await loadWith(record(GRAPH_NAME, graph), record(DATA, WEIGHTS)), WEIGHTS.toString())
  const message = (name: string) => ({ message: `onnx/${name} differs from the hash in the manifest of the model` })
  await t.throwsAsync(loadWith(record(DATA, SECRET)), message(DATA))
  await t.throwsAsync(loadWith(record(GRAPH_NAME, SECRET)), message(GRAPH_NAME))
})

test('a model whose manifest cannot be read is refused, because its hashes cannot be compared', async (t) => {
  const model = await modelWith(t, externalGraph(initializer(DATA, WEIGHTS.length)))
  const file = join(model.manifest, MANIFEST_FILE)
  await symlink(file, file)
  const reason = `${MANIFEST_FILE} cannot be read (ELOOP)`
  await t.throwsAsync(openSession(model.graph), { message: reason })
  t.like(await verifyFolder(model.manifest), { problem: reason, kept: false })
})

test('a manifest that names files outside of its folder counts as missing', async (t) => {
  const model = await modelWith(t, externalGraph(initializer(DATA, WEIGHTS.length)))
  const recorded = async (path: string) => {
    await writeManifest(model.manifest, { files: [{ path, size: 16, sha256: '0'.repeat(64) }] })
    return orThrow(await readManifest(model.manifest))?.files.map((file) => file.path)
  }
  const outside = ['../master.key', '/etc/hostname', 'onnx/../../master.key', '..', '.', '', 'a//b', 'a\\..\\b']
  for (const path of outside)
    t.is(await recorded(path), undefined, path)
  for (const path of ['config.json', 'onnx/encoder_model.onnx_data_1', 'words.bin'])
    t.deepEqual(await recorded(path), [path])
})

test('bytes that are no ONNX model are refused before onnxruntime sees them', async (t) => {
  const graph = externalGraph(initializer(DATA, WEIGHTS.length))
  const otherFormat = Buffer.concat([Buffer.from([10, 120, 0, 0]), Buffer.from('ORTM'), Buffer.alloc(114)])
  const isNoModel = async (bytes: Uint8Array) => {
    const model = await modelWith(t, bytes)
    return t.throwsAsync(readGraphFiles(model.graph))
  }
  await isNoModel(graph.subarray(0, graph.length - 3))
  await isNoModel(Buffer.from('no graph at all'))
  t.is((await isNoModel(otherFormat)).message, 'it is in the format of onnxruntime and not in that of ONNX')
})
