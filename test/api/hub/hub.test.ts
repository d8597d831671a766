import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { readManifest } from '../../../infrastructure/catalogue/manifest.ts'
import { retryAfterMs } from '../../../infrastructure/hub/hub-error.ts'
import { createHubHttp } from '../../../infrastructure/hub/hub-http.ts'
import { openStaging } from '../../../infrastructure/hub/staging.ts'
import { HUB_MODEL_FOLDER, startHubWithModels, HUB_MODEL, pullInto } from '../../support/models/pulls-from-hub.ts'

const ENCODER = 'onnx/encoder_model.onnx'
const NEEDED = [
  'config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'generation_config.json',
  'preprocessor_config.json',
  ENCODER,
  'onnx/decoder_model.onnx',
  'onnx/decoder_with_past_model.onnx',
]
const SMALL = Buffer.from('a graph of another precision')

const contentOf = (folder: string): Promise<ReadonlyArray<string>> =>
  Promise.all(
    NEEDED.map(
      async (path) =>
        `${path} ${createHash('sha256')
          .update(await readFile(join(folder, path)))
          .digest('hex')}`,
    ),
  )

const entries = (directory: string): Promise<ReadonlyArray<string>> =>
  readdir(directory).then(
    (names) => names.sort(),
    () => [],
  )

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
  t.deepEqual(await entries(modelsDir), ['mine'], 'nothing else is left')
  const manifest = await readManifest(folder)
  t.like(manifest, { source: HUB_MODEL, commit: hub.commit, precision: 'fp32' })
  t.deepEqual(
    manifest?.files.map(({ path }) => path),
    NEEDED,
  )
  t.true(manifest?.files.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256)))
  t.deepEqual([...hub.sent.keys()].sort(), [...NEEDED].sort(), 'nothing else was fetched')
  t.true(
    hub.asked.some((line) => line.startsWith('GET /api/resolve-cache/')) &&
      hub.asked.some((line) => line.startsWith('storage ')),
  )
  t.true(
    steps.every(([done, total], i) => done <= total && done >= (steps[i - 1]?.[0] ?? 0)),
    'progress never goes back',
  )
  t.is(steps.at(-1)?.[0], steps.at(-1)?.[1])
})

test('an interrupted download resumes with range requests and downloads no byte twice', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  const size = (await readFile(join(HUB_MODEL_FOLDER, ENCODER))).length
  hub.faults.push(
    { path: /^onnx\/encoder/, times: 3, kind: { breaksAfter: 500 } },
    { path: /^onnx\/.*with_past/, times: 2, kind: { truncatedTo: 4000 } },
  )
  const { pulled, waits } = await pullInto(modelsDir, hub)
  t.true(E.isRight(pulled), JSON.stringify(pulled))
  t.deepEqual(await contentOf(join(modelsDir, 'mine')), await contentOf(HUB_MODEL_FOLDER))
  const ranges = hub.asked
    .filter((line) => line.startsWith(`storage ${ENCODER}`))
    .map((line) => line.split(' ')[2] ?? '')
  t.is(ranges[0], '')
  t.true(ranges.length === 4 && ranges.slice(1).every((range) => /^bytes=\d+-$/.test(range)), ranges.join())
  t.true((hub.sent.get(ENCODER) ?? 0) <= size + 3 * 500, 'only what the kernel had in flight at a cut comes again')
  t.is(waits.length, 5)
})

test('a repeatedly interrupted download continues as long as each attempt makes progress', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  hub.faults.push({ path: /^onnx\/encoder/, times: 12, kind: { truncatedTo: 200 } })
  const { pulled, waits } = await pullInto(modelsDir, hub)
  t.true(E.isRight(pulled), JSON.stringify(pulled))
  t.deepEqual(await contentOf(join(modelsDir, 'mine')), await contentOf(HUB_MODEL_FOLDER))
  t.true(waits.length > 6, 'more failures than anybody waits for who gets nowhere')
  t.true(
    waits.every((wait) => wait <= 1000),
    'each of them is the first failure again',
  )
})

test('a partial file that is longer than the original is downloaded again', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  const content = await readFile(join(HUB_MODEL_FOLDER, ENCODER))
  const staging = await openStaging(modelsDir, 'mine')
  await writeFile(
    staging.part(createHash('sha256').update(content).digest('hex')),
    Buffer.concat([content, Buffer.from('more')]),
  )
  await staging.close()
  const { pulled, waits } = await pullInto(modelsDir, hub)
  t.true(E.isRight(pulled), JSON.stringify(pulled))
  t.deepEqual(await contentOf(join(modelsDir, 'mine')), await contentOf(HUB_MODEL_FOLDER))
  t.deepEqual([hub.asked.filter((line) => line.startsWith(`storage ${ENCODER}`)), waits], [[`storage ${ENCODER}`], []])
})

test('a storage without ranges restarts the download; an expired address is requested again', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  hub.faults.push(
    { path: /^onnx\/encoder/, times: 1, kind: { truncatedTo: 300 } },
    { path: /^onnx\/encoder/, times: 1, kind: 'no ranges' },
  )
  hub.faults.push(
    { path: /^onnx\/decoder_model/, times: 1, kind: { status: 403 } },
    { path: /^onnx\/.*with_past/, times: 1, kind: { status: 416 } },
  )
  const { pulled } = await pullInto(modelsDir, hub)
  t.true(E.isRight(pulled), JSON.stringify(pulled))
  t.deepEqual(await contentOf(join(modelsDir, 'mine')), await contentOf(HUB_MODEL_FOLDER))
  t.is(
    hub.asked.filter((line) => line.startsWith(`storage ${ENCODER}`)).length,
    2,
    'what came from its beginning was all of it',
  )
})

test('content with a wrong hash or length is downloaded again and never installed', async (t) => {
  // Of the content alone: a fault that also fits the redirect to it would be spent there.
  const contents = [
    [/^onnx\/encoder/, 'corrupt'],
    [/resolve-cache.*\/tokenizer\.json$/, 'corrupt'],
    [/^onnx\/.*with_past/, 'too long'],
  ] as const
  for (const [path, kind] of contents) {
    const { hub, modelsDir } = await startHubWithModels(t)
    hub.faults.push({ path, times: 1, kind })
    t.true(E.isRight((await pullInto(modelsDir, hub)).pulled), 'once')
    t.is(hub.faults[0]?.times, 0)
    const other = await startHubWithModels(t)
    other.hub.faults.push({ path, times: Infinity, kind })
    const { pulled } = await pullInto(other.modelsDir, other.hub)
    t.regex(
      E.isLeft(pulled) ? pulled.left : '',
      kind === 'corrupt' ? /has the wrong hash/ : /longer than the \d+ bytes that the hub lists/,
    )
    t.deepEqual(await entries(other.modelsDir), ['.pulling'])
    other.hub.faults.length = 0
    t.true(E.isRight((await pullInto(other.modelsDir, other.hub)).pulled), 'the next attempt begins that file anew')
  }
  const { hub, modelsDir } = await startHubWithModels(t)
  hub.faults.push({ path: /encoder/, times: Infinity, kind: 'another content' })
  const { pulled } = await pullInto(modelsDir, hub)
  t.regex(E.isLeft(pulled) ? pulled.left : '', /sends another onnx\/encoder_model\.onnx than it lists/)
})

test('a pull waits as long as the hub asks, and fails at once for an unknown model', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  hub.faults.push({ path: /\/api\/models.*revision/, times: 1, kind: { status: 429, headers: { 'retry-after': '7' } } })
  hub.faults.push({ path: /\/tree\//, times: 1, kind: { status: 429, headers: { ratelimit: '"api";r=0;t=55' } } })
  hub.faults.push({ path: /^onnx\/encoder/, times: 2, kind: { status: 503 } })
  const { pulled, waits } = await pullInto(modelsDir, hub)
  t.true(E.isRight(pulled), JSON.stringify(pulled))
  t.deepEqual(waits.slice(0, 2), [7000, 55_000])
  t.is(waits.length, 4)

  const away = await startHubWithModels(t)
  away.hub.faults.push({ path: /revision/, times: Infinity, kind: { status: 502 } })
  const gone = await pullInto(away.modelsDir, away.hub)
  t.regex(E.isLeft(gone.pulled) ? gone.pulled.left : '', /answered 502/)
  t.is(gone.waits.length, 5, 'six attempts')
  const longest = [1000, 2000, 4000, 8000, 16_000]
  t.true(
    gone.waits.every((wait, n) => wait >= (longest[n] ?? 0) / 2 && wait <= (longest[n] ?? 0)),
    `later and later: ${gone.waits.join()}`,
  )
  const http = createHubHttp(hub.url)
  const unknown = await pullInto(join(modelsDir, 'other'), hub, {
    source: { kind: 'hub', http, ids: ['nobody/nothing'], revision: 'main' },
  })
  t.regex(E.isLeft(unknown.pulled) ? unknown.pulled.left : '', /has no public model of this name.*\(401\)/)
  t.is(unknown.waits.length, 0)
  t.deepEqual(await entries(join(modelsDir, 'other')), [], 'what brought nothing leaves nothing')
})

test('Retry-After is read as seconds or a date and has an upper limit', (t) => {
  const now = Date.parse('2026-11-22T00:00:00Z')
  t.is(retryAfterMs({ 'retry-after': '3' }, now), 3000)
  t.is(retryAfterMs({ 'retry-after': 'Sun, 22 Nov 2026 00:00:09 GMT' }, now), 9000)
  t.is(retryAfterMs({ 'retry-after': 'Sat, 21 Nov 2026 23:59:00 GMT' }, now), 0)
  t.is(retryAfterMs({ 'retry-after': '86400' }, now), 330_000)
  t.is(retryAfterMs({ ratelimit: '"resolvers";r=0;t=12' }, now), 12_000)
  t.is(retryAfterMs({}, now), null)
})

test('an interrupted pull resumes from its finished files, and only one pull of a model runs at a time', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  hub.faults.push({ path: /with_past/, times: Infinity, kind: { status: 404 } })
  const first = await pullInto(modelsDir, hub)
  t.regex(E.isLeft(first.pulled) ? first.pulled.left : '', /answered 404/)
  t.deepEqual(await entries(modelsDir), ['.pulling'], 'no half-written folder')
  const staging = await openStaging(modelsDir, 'mine')
  const busy = await pullInto(modelsDir, hub)
  t.regex(E.isLeft(busy.pulled) ? busy.pulled.left : '', /another process is pulling mine/)
  await staging.close()
  // What lies there and is none of it, or is damaged, does not get into the model.
  await writeFile(join(modelsDir, '.pulling/mine/files/notes.txt'), 'not of the model')
  await writeFile(join(modelsDir, '.pulling/mine/files/config.json'), '{}')
  hub.faults.length = 0
  const sentBefore = hub.sent.get(ENCODER)
  t.true(E.isRight((await pullInto(modelsDir, hub)).pulled))
  t.is(hub.sent.get(ENCODER), sentBefore, 'what was whole is not fetched again')
  t.deepEqual(await contentOf(join(modelsDir, 'mine')), await contentOf(HUB_MODEL_FOLDER))
  t.false((await entries(join(modelsDir, 'mine'))).includes('notes.txt'))
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
  t.true((await entries(join(modelsDir, 'mine/onnx'))).includes('encoder_model_quantized.onnx'), 'still the old one')
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
  const listed = large.hub.url
  const http = createHubHttp(listed)
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
  const none = await pullInto(modelsDir, hub, {
    name: 'other',
    source: { kind: 'directory', path: dirname(HUB_MODEL_FOLDER) },
  })
  t.regex(
    E.isLeft(none.pulled) ? none.pulled.left : '',
    /^test\/support\/fixtures\/engine: missing files: config\.json, tokenizer\.json, tokenizer_config\.json$/,
  )
})

test('without a mirror only https to public addresses is allowed [S1 S3]', async (t) => {
  const http = createHubHttp()
  t.is(http.url('/x').origin, 'https://huggingface.co')
  const refused = (url: string) => http.open(new URL(url)).then(() => '', (error: unknown) => String(error))
  t.regex(await refused('http://huggingface.co/x'), /http: is not https/)
  t.regex(await refused('file:///etc/passwd'), /is not https/)
  t.regex(await refused('https://127.0.0.1:1/x'), /no public address/)
  t.regex(await refused('https://[::1]:1/x'), /no public address/)
  t.regex(await refused('https://localhost:1/x'), /no public address/)
})
