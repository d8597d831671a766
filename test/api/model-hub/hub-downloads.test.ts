import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { retryAfterMs } from '../../../infrastructure/model-hub/hub-error.ts'
import { createHubHttp } from '../../../infrastructure/model-hub/hub-http.ts'
import { openStaging } from '../../../infrastructure/model-hub/staging.ts'
import { HUB_MODEL_FOLDER, startHubWithModels, pullInto } from '../../support/models/pulls-from-hub.ts'
import { ENCODER, contentOf, entries } from './pulled-files.ts'

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
  const ranges = hub.requests
    .filter((line) => line.startsWith(`storage ${ENCODER}`))
    .map((line) => line.split(' ')[2] ?? '')
  t.is(ranges[0], '')
  t.true(ranges.length === 4 && ranges.slice(1).every((range) => /^bytes=\d+-$/.test(range)), ranges.join())
  t.true((hub.sent.get(ENCODER) ?? 0) <= size + 3 * 500, 'only bytes in flight at a cut are sent again')
  t.is(waits.length, 5)
})

test('a repeatedly interrupted download continues as long as each attempt makes progress', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  hub.faults.push({ path: /^onnx\/encoder/, times: 12, kind: { truncatedTo: 200 } })
  const { pulled, waits } = await pullInto(modelsDir, hub)
  t.true(E.isRight(pulled), JSON.stringify(pulled))
  t.deepEqual(await contentOf(join(modelsDir, 'mine')), await contentOf(HUB_MODEL_FOLDER))
  t.true(waits.length > 6, 'more failures than a pull without progress accepts')
  t.true(waits.every((wait) => wait <= 1000), 'progress resets the delay')
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
  t.deepEqual(
    [hub.requests.filter((line) => line.startsWith(`storage ${ENCODER}`)), waits],
    [[`storage ${ENCODER}`], []],
  )
})

test('a storage server without ranges restarts the download; an expired address is requested again', async (t) => {
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
    hub.requests.filter((line) => line.startsWith(`storage ${ENCODER}`)).length,
    2,
    'the second response contains the whole file',
  )
})

test('content with a wrong hash or length is downloaded again and never installed', async (t) => {
  // Each pattern matches only the address of the content. A fault that matched the redirect would be used up there.
  const contents = [
    [/^onnx\/encoder/, 'corrupt'],
    [/resolve-cache.*\/tokenizer\.json$/, 'corrupt'],
    [/^onnx\/.*with_past/, 'too long'],
  ] as const
  for (const [path, kind] of contents) {
    const { hub, modelsDir } = await startHubWithModels(t)
    hub.faults.push({ path, times: 1, kind })
    t.true(E.isRight((await pullInto(modelsDir, hub)).pulled), 'after one fault')
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
    t.true(E.isRight((await pullInto(other.modelsDir, other.hub)).pulled), 'the next attempt downloads that file again')
  }
  const { hub, modelsDir } = await startHubWithModels(t)
  hub.faults.push({ path: /encoder/, times: Infinity, kind: 'another content' })
  const { pulled } = await pullInto(modelsDir, hub)
  t.regex(E.isLeft(pulled) ? pulled.left : '', /sent a onnx\/encoder_model\.onnx that differs from its file list/)
})

test('a pull waits as long as the hub requests, and fails at once for an unknown model', async (t) => {
  const { hub, modelsDir } = await startHubWithModels(t)
  hub.faults.push({ path: /\/api\/models.*revision/, times: 1, kind: { status: 429, headers: { 'retry-after': '7' } } })
  hub.faults.push({ path: /\/tree\//, times: 1, kind: { status: 429, headers: { ratelimit: '"api";r=0;t=55' } } })
  hub.faults.push({ path: /^onnx\/encoder/, times: 2, kind: { status: 503 } })
  const { pulled, waits } = await pullInto(modelsDir, hub)
  t.true(E.isRight(pulled), JSON.stringify(pulled))
  t.deepEqual(waits.slice(0, 2), [7000, 55_000])
  t.is(waits.length, 4)

  const failingHub = await startHubWithModels(t)
  failingHub.hub.faults.push({ path: /revision/, times: Infinity, kind: { status: 502 } })
  const unreachable = await pullInto(failingHub.modelsDir, failingHub.hub)
  t.regex(E.isLeft(unreachable.pulled) ? unreachable.pulled.left : '', /answered 502/)
  t.is(unreachable.waits.length, 5, 'six attempts')
  const longest = [1000, 2000, 4000, 8000, 16_000]
  t.true(
    unreachable.waits.every((wait, n) => wait >= (longest[n] ?? 0) / 2 && wait <= (longest[n] ?? 0)),
    `the delays grow: ${unreachable.waits.join()}`,
  )
  const http = createHubHttp(hub.url)
  const unknown = await pullInto(join(modelsDir, 'other'), hub, {
    source: { kind: 'hub', http, ids: ['nobody/nothing'], revision: 'main' },
  })
  t.regex(E.isLeft(unknown.pulled) ? unknown.pulled.left : '', /has no public model of this name.*\(401\)/)
  t.is(unknown.waits.length, 0)
  t.deepEqual(await entries(join(modelsDir, 'other')), [], 'a failed pull leaves no folder')
})

test('Retry-After is read as seconds or a date and has an upper limit', (t) => {
  t.is(retryAfterMs({ 'retry-after': '3' }), 3000)
  t.is(retryAfterMs({ 'retry-after': '86400' }), 330_000)
  t.is(retryAfterMs({ ratelimit: '"resolvers";r=0;t=12' }), 12_000)
  t.is(retryAfterMs({}), null)
})

test('a date in Retry-After counts from the date of the answer, whatever the clock of this machine shows', (t) => {
  const date = 'Tue, 22 Nov 2022 00:00:00 GMT'
  t.is(retryAfterMs({ date, 'retry-after': 'Tue, 22 Nov 2022 00:00:09 GMT' }), 9000)
  t.is(retryAfterMs({ date, 'retry-after': 'Mon, 21 Nov 2022 23:59:00 GMT' }), 0)
  t.is(retryAfterMs({ 'retry-after': 'Tue, 22 Nov 2022 00:00:09 GMT' }), null)
})
