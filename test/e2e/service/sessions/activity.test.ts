import test from 'ava'
import type { Client, Json, Listing, LiveJson, Single } from '../../../support/service/client.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'

const service = sharedTestService()

const activityOf = async (client: Client, { id }: LiveJson): Promise<Json> =>
  (await client.get<Single<Json>>(`/lives/${id}/activity`)).body.data

const NOTHING = {
  lag: null, listeners: 0, sender_connected: false, audio_seconds: 0, wrong_samples: null, segments: 0,
  text_until: null, ignored: [],
}

test('the list of models and the activity of a session name what the model cannot do', async (t) => {
  const client = await service.user('ambitious')
  const { data: models } = await client.api.call('listModels', { query: { name: 'demo-en' } })
  t.deepEqual(models.map(({ options }) => options), [[]])
  for (const [config, ignored] of [
    [{ words: true, hotwords: ['Babbage'] }, ['words', 'prompt', 'hotwords']],
    [{ words: true }, ['words']],
    [{ words: false, task: 'transcribe' }, []],
  ] as const) {
    const live = await client.createLive({ config })
    t.like(live.config, config, 'the request is accepted')
    t.deepEqual((await activityOf(client, live))['ignored'], ignored)
  }
})

test.serial('the activity of a session shows its sockets, audio, finals and text retention', async (t) => {
  t.timeout(300_000)
  const client = await service.user('active')
  const live = await client.createLive()
  t.deepEqual(await activityOf(client, live), NOTHING)
  const listener = await client.socket(live, 'listener')
  await client.socket(live, 'listener')
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  const [sentence] = await sampleSentences()
  const speech = [sentence?.samples ?? silence(1), silence(2)]
  for (const samples of speech) sender.sendAudio(samples)
  await sender.frame(({ type, final }) => type === 'transcription' && final === true)
  const seconds = speech.reduce((sum, { length }) => sum + length, 0) / 16_000
  const during = await eventually(async () => {
    const seen = await activityOf(client, live)
    if (seen['segments'] === 0) throw new Error('the final is not stored yet')
    return seen
  })
  t.like(during, { listeners: 2, sender_connected: true, segments: 1, text_until: null })
  t.true(Math.abs(Number(during['audio_seconds']) - seconds) < 0.01)
  t.is(typeof during['lag'], 'number')

  sender.send({ type: 'FINISH' })
  await Promise.all([sender.closed, listener.closed])
  const after = await eventually(async () => {
    const seen = await activityOf(client, live)
    if (seen['listeners'] !== 0 || seen['lag'] !== null) throw new Error('the sockets are still open')
    return seen
  })
  t.like(after, { sender_connected: false, segments: 1 })
  t.true(Number(after['audio_seconds']) > 0 && Number(after['audio_seconds']) <= seconds)
  const { data } = await client.api.call('getLive', { path: { id: live.id } })
  const retentionMs = Date.parse(String(after['text_until'])) - Date.parse(String(data.updated_at))
  t.is(retentionMs, 58_000)

  const stranger = await service.user('passer-by')
  for (const id of [live.id, 4711, 0, -1]) {
    const { status, body } = await stranger.get(`/lives/${id}/activity`)
    t.deepEqual([status, body], [404, { detail: 'Live not found' }], String(id))
  }
})

test.serial('the capacity shows the total memory and the caller’s use of their quotas', async (t) => {
  const client = await service.user('planner', { max_sessions: 3, max_translations: 2 })
  const capacity = async (user: Client): Promise<Json> => (await user.get<Single<Json>>('/capacity')).body.data
  const before = await capacity(client)
  const quotas = { max_sessions: 3, max_translations: 2 }
  t.like(before, { vram_total: 100_000, open_sessions: 0, ...quotas })
  const { vram } = await client.createLive()
  const reserved = Number(before['vram_reserved']) + vram
  t.deepEqual(await capacity(client), {
    vram_total: 100_000,
    vram_reserved: reserved,
    vram_free: 100_000 - reserved,
    open_sessions: 1,
    ...quotas,
  })
  t.like(await capacity(await service.user('idle')), { vram_reserved: reserved, open_sessions: 0 })
  t.is((await service.anonymous().get('/capacity')).status, 401)
})

test.serial('languages can be filtered by model', async (t) => {
  const anonymous = service.anonymous()
  const codes = async (query: string): Promise<ReadonlyArray<unknown>> =>
    (await anonymous.get<Listing<Json>>(`/languages${query}`)).body.data.map((row) => row['iso_639_1'])
  t.deepEqual(await codes('?model=demo-en'), ['en'])
  t.deepEqual(await codes('?model=demo-en&iso_639_1=fr'), [])
  const unknown = await anonymous.get('/languages/?model=nonesuch')
  t.deepEqual([unknown.status, unknown.body], [404, { detail: 'Model not found' }])
})

test.serial('an administrator can read the load of the last minutes', async (t) => {
  const admin = await service.admin()
  const { data } = (await admin.get<Single<Record<string, ReadonlyArray<number>>>>('/admin/load')).body
  t.deepEqual(Object.keys(data), ['since', 'step', 'lag_max', 'lag_p95', 'vram_reserved', 'sessions', 'listeners'])
  t.like(data, { step: 10 })
  t.true(Date.parse(String(data['since'])) <= Date.now())
  const lengths = ['lag_max', 'lag_p95', 'vram_reserved', 'sessions', 'listeners'].map((member) => data[member]?.length)
  t.is(new Set(lengths).size, 1)
  t.true(Number(lengths[0]) >= 1)
  for (const minutes of [0, 361, 'x'])
    t.is((await admin.get(`/admin/load?minutes=${minutes}`)).status, 422, String(minutes))
  t.is((await (await service.user('curious')).get('/admin/load')).status, 403)
})
