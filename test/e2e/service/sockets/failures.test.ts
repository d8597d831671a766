import { cp, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import type { Client, Json, Listing, LiveJson, Single } from '../../../support/service/client.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { runTestService } from '../../../support/service/service.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'

const DEMO = 'models/demo-en'
const models = await temporaryDirectory()
for (const name of ['damaged', 'missing', 'throwing']) await cp(DEMO, join(models.path, name), { recursive: true })
await cp('test/support/fixtures/engine/tiny-whisper', join(models.path, 'hungry'), { recursive: true })
await cp('test/support/fixtures/engine/hungry-whisper.onnx', join(models.path, 'hungry/onnx/encoder_model.onnx'))
// The model "throwing" loads, but fails at the second token, because its decoder graph accepts no past keys.
await cp(
  join(DEMO, 'onnx/decoder_model_quantized.onnx'),
  join(models.path, 'throwing/onnx/decoder_with_past_model_quantized.onnx'),
)
const [sentence] = await sampleSentences()
const speech = sentence?.samples ?? silence(0)

const service = await runTestService({ MODELS_DIR: models.path })
test.after.always(async () => {
  await service.dispose()
  await models.remove()
})

const liveOf = async (client: Client, { id }: LiveJson): Promise<LiveJson> =>
  (await client.get<Single<LiveJson>>(`/lives/${id}`)).body.data

const reserved = async (client: Client): Promise<number> =>
  Number(/^stenolog_vram_reserved_megabytes (\d+)$/m.exec((await client.get<string>('/metrics')).body)?.[1])

test.serial('folders in the models directory are listed as active models', async (t) => {
  const { data } = (await service.anonymous().get<Listing<Json>>('/models')).body
  for (const name of ['damaged', 'missing', 'throwing', 'hungry', 'demo-en'])
    t.is(data.find((row) => row['name'] === name)?.['active'], true)
})

test.serial('a rescan by an administrator finds added and removed models', async (t) => {
  const [client, admin] = [await service.user('nobody'), await service.admin()]
  const rescan = () => admin.post<{ readonly data: ReadonlyArray<Json> }>('/admin/rescan', undefined)
  await cp('test/support/fixtures/engine/tiny-whisper', join(models.path, 'late'), { recursive: true })
  t.is((await client.post('/admin/rescan', undefined)).status, 403)
  t.deepEqual((await service.anonymous().get<Listing<Json>>('/models?name=late')).body.data, [])
  const { status, body } = await rescan()
  t.is(status, 200)
  t.like(body.data.find(({ name }) => name === 'late'), { active: true })
  t.is((await client.createLive({ model: 'late' })).status, 'pending')
  await rm(join(models.path, 'late'), { recursive: true })
  t.false((await rescan()).body.data.some(({ name }) => name === 'late'))
  t.is((await client.post('/lives', { model: 'late', language: 'en' })).status, 404)
})

for (const [model, code, breakModel] of [
  [
    'damaged',
    'model_load_failed',
    () => truncate(join(models.path, 'damaged/onnx/encoder_model_quantized.onnx'), 1_000_000),
  ],
  ['missing', 'model_load_failed', () => rm(join(models.path, 'missing/onnx/decoder_with_past_model_quantized.onnx'))],
  ['throwing', 'engine_failed', () => Promise.resolve()],
  ['hungry', 'engine_failed', () => Promise.resolve()],
] as const)
  test.serial(`a ${model} model ends only its session, with ${code} and 1011, and frees its memory`, async (t) => {
    await breakModel()
    const client = await service.user(`user of ${model}`)
    const healthy = await client.createLive()
    const other = await client.socket(healthy, 'sender')
    other.send({ type: 'config' })
    const before = await reserved(client)

    const live = await client.createLive({ model })
    t.is(await reserved(client), before + live.vram)
    const listener = await client.socket(live, 'listener')
    const sender = await client.socket(live, 'sender')
    sender.send({ type: 'config' })
    sender.sendAudio(speech)
    sender.sendAudio(silence(2))
    for (const socket of [sender, listener]) {
      t.deepEqual(await socket.closed, { code: 1011, reason: code })
      const last = socket.frames.at(-1) ?? {}
      t.deepEqual(Object.keys(last), ['type', 'code', 'detail'])
      t.like(last, { type: 'error', code })
      t.false(socket.texts.includes('{"status":"finished"}'))
    }
    await client.untilStatus(live, 'error')
    t.is((await liveOf(client, live)).vram, 0)
    await eventually(async () => {
      if ((await reserved(client)) !== before) throw new Error('the memory of the session is still reserved')
    })
    t.deepEqual((await client.get<Listing<LiveJson>>('/lives/?status=error')).body.data.map(({ id }) => id), [live.id])
    t.like(await client.put<Single<LiveJson>>(`/lives/${live.id}/finish`), {
      status: 200,
      body: { data: { status: 'error' } },
    })
    t.is((await (await client.socket(live, 'sender')).closed).code, 4410)

    other.sendAudio(speech)
    other.sendAudio(silence(2))
    other.send({ type: 'FINISH' })
    t.is((await other.closed).code, 1000, 'the other session continues')
    t.true(other.frames.some(({ final }) => final === true))
    const ready = await client.get<{ readonly checks: Json }>('/health/ready')
    t.is(ready.status, 200)
    const failing = ready.body.checks['modelsThatDoNotLoad'] as ReadonlyArray<string>
    t.is(failing.includes(model), code === 'model_load_failed', 'readiness lists a model that does not load')
    t.false(failing.includes('demo-en'))
  })
