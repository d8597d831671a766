import { symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import test from 'ava'
import type { Json, Listing, LiveJson, Single } from '../../../support/service/client.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { runTestService, startTestService } from '../../../support/service/service.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'

/** A tiny model for German and English with random weights, so its text is meaningless. */
const MULTILINGUAL = 'exact-whisper'
const modelsDir = await temporaryDirectory()
await symlink(resolve('test/support/fixtures/engine', MULTILINGUAL), join(modelsDir.path, MULTILINGUAL))
const service = await runTestService({ MODELS_DIR: modelsDir.path })
test.after.always(async () => {
  await service.dispose()
  await modelsDir.remove()
})

const OPTIONS = { words: true, prompt: 'A lecture on numerals.', hotwords: ['Analytical Engine'] }
const OPTIONAL_MEMBERS = ['words', 'task', 'prompt', 'hotwords']
const optionalOf = (settings: Json): Json =>
  Object.fromEntries(Object.entries(settings).filter(([member]) => OPTIONAL_MEMBERS.includes(member)))
const configOf = (live: Json): Json => live['config'] as Json

test.serial('the owner sees the optional settings of a session or profile exactly as sent', async (t) => {
  const client = await service.user('asking')
  const live = await client.createLive({ model: MULTILINGUAL, config: { ...OPTIONS, task: 'translate' } })
  t.deepEqual(optionalOf(configOf(live)), { ...OPTIONS, task: 'translate' })
  t.deepEqual((await client.get<Single<LiveJson>>(`/lives/${live.id}`)).body.data, live)
  const [row] = (await client.get<Listing<LiveJson>>('/lives')).body.data
  const { prompt: _, hotwords: __, ...listedConfig } = configOf(live)
  t.deepEqual(row, { ...live, config: listedConfig }, 'lists leave out prompt and hotwords')
  t.deepEqual(optionalOf(configOf(await client.createLive())), {})
  const created = (await client.post<Single<Json>>('/user-live-configs', { name: 'Lecture', hotwords: ['Babbage'] }))
    .body.data
  t.deepEqual(optionalOf(created), { hotwords: ['Babbage'] })
  const changed = await client.put<Single<Json>>(`/user-live-configs/${String(created['id'])}`, {
    words: false,
    prompt: '',
  })
  t.deepEqual(optionalOf(changed.body.data), { words: false, prompt: '', hotwords: ['Babbage'] })
  const [, listed] = (await client.get<Listing<Json>>('/user-live-configs')).body.data
  const { prompt, hotwords, ...listedProfile } = changed.body.data
  t.deepEqual([prompt, hotwords, listed], ['', ['Babbage'], listedProfile])
  t.deepEqual((await client.get<Single<Json>>(`/user-live-configs/${String(created['id'])}`)).body, changed.body)
  const history = await client.get<Listing<Json>>(`/lives/${live.id}/history`)
  t.like(history.body.data[0], { type: 'LiveCreated', data: { vocabulary: '***' } })
  const admin = await service.admin()
  t.false(JSON.stringify((await admin.get('/admin/lives')).body).includes('Analytical'))
})

test.serial('a reused Idempotency-Key with other hotwords is refused', async (t) => {
  const client = await service.user('repeating')
  const create = async (hotwords: ReadonlyArray<string>): Promise<number> => {
    const body = JSON.stringify({ model: 'demo-en', language: 'en', config: { hotwords } })
    const headers = { 'idempotency-key': 'k', 'content-type': 'application/json' }
    return (await client.request('POST', '/lives', { headers, body })).status
  }
  t.deepEqual([await create(['a']), await create(['a']), await create(['b'])], [200, 200, 422])
})

test.serial('a sender can change prompt and hotwords during a session, and they survive a restart', async (t) => {
  const client = await service.user('changing', { permissions: ['user_retention'] })
  const live = await client.createLive({ live_retention: true, config: OPTIONS })
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  sender.sendAudio((await sampleSentences())[0]?.samples ?? silence(1))
  sender.send({ type: 'config', max_chars: 20 })
  await sender.frame(({ code }) => code === 'config_too_late')
  sender.send({ type: 'config', hotwords: ['Difference Engine'] })
  await eventually(async () => {
    const { data } = (await client.get<Single<LiveJson>>(`/lives/${live.id}`)).body
    if (JSON.stringify(configOf(data)['hotwords']) !== '["Difference Engine"]')
      throw new Error('the session still has the old hotwords')
  })
  t.is(sender.frames.filter(({ status }) => status === 'ASR process started').length, 2)
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  const types = (await client.get<Listing<Json>>(`/lives/${live.id}/history`)).body.data.map(({ type }) => type)
  t.true(types.includes('VocabularyChanged'))
  const transcript = await client.get<Single<{ readonly transcript: ReadonlyArray<Json> }>>(
    `/lives/${live.id}/transcript`,
  )
  t.true(transcript.body.data.transcript.length > 0)
  await service.kill()
  await service.start()
  const relogged = await service.logIn('changing')
  const { data } = (await relogged.get<Single<LiveJson>>(`/lives/${live.id}`)).body
  t.deepEqual(optionalOf(configOf(data)), { ...OPTIONS, hotwords: ['Difference Engine'] })
})

test.serial('only multilingual models accept auto and translate, and the list of languages is unchanged', async (t) => {
  const client = await service.user('polyglot')
  const live = await client.createLive({ model: MULTILINGUAL, language: 'auto' })
  t.like(live.language, { id: 0, iso_639_1: 'auto', name: 'Automatic', active: true })
  const refusal = async (members: Json): Promise<unknown> => {
    const { status, body } = await client.post('/lives', { model: 'demo-en', language: 'en', ...members })
    return [status, body['detail']]
  }
  t.deepEqual(await refusal({ language: 'auto' }), [404, 'Language not supported by model: demo-en, auto'])
  t.deepEqual(await refusal({ language: 'yue' }), [404, 'Language not supported by model: demo-en, yue'])
  t.deepEqual(await refusal({ language: 'xyz' }), [404, 'Language not found'])
  t.deepEqual(await refusal({ config: { task: 'translate' } }), [
    404,
    'Task not supported by model: demo-en, translate',
  ])
  const { data, pagination } = (await client.get<Listing<Json>>('/languages/')).body
  t.is(pagination.total_items, 98)
  t.true(data.every(({ iso_639_1: iso }) => String(iso).length === 2))
})

test.serial('with COMPAT_STRICT no answer contains the optional settings', async (t) => {
  const strict = await startTestService(t, { COMPAT_STRICT: '1', MODELS_DIR: modelsDir.path })
  const client = await strict.user('strict')
  const live = await client.createLive({ model: MULTILINGUAL, config: { ...OPTIONS, task: 'translate' } })
  t.deepEqual(optionalOf(configOf(live)), {})
  const profile = (await client.post<Single<Json>>('/user-live-configs', { name: 'Lecture', ...OPTIONS })).body.data
  t.deepEqual(optionalOf(profile), {})
  const { data: models } = await client.api.call('listModels', { query: { name: MULTILINGUAL } })
  t.deepEqual(models.map((model) => 'options' in model), [false])
})
