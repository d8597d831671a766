import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import type { Client, Json, Listing, LiveJson, Single, TestSocket } from '../../../support/service/client.ts'
import { runTestService, startTestService } from '../../../support/service/service.ts'
import { testWith } from '../../../support/running/skip-unless.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'
import { installTranslators } from '../../../support/models/translators.ts'

const sentences = (await sampleSentences()).slice(0, 3)
// These translators have random weights. The tests check when and to whom translations are sent, not their texts.
const cleanUps: Array<() => unknown> = []
const modelsDir = await installTranslators(
  { teardown: (cleanUp) => cleanUps.push(cleanUp) },
  'opus-mt-en-de',
  'opus-mt-en-it',
  'opus-mt-en-pt',
)
const service = await runTestService({ MODELS_DIR: modelsDir })
test.after.always(async () => {
  await service.dispose()
  for (const cleanUp of cleanUps) await cleanUp()
})
const anonymous = service.anonymous()
const speech = sentences.flatMap(({ samples }) => [samples, silence(1.5)])
const TARGETS = ['it', 'de']

const ofType = (socket: TestSocket, type: string): ReadonlyArray<Json> =>
  socket.frames.filter((frame) => frame['type'] === type)
const finals = (socket: TestSocket): ReadonlyArray<Json> =>
  ofType(socket, 'transcription').filter(({ final }) => final === true)

const open = async (client: Client, live: LiveJson): Promise<TestSocket> => {
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  return sender
}

const sendAudio = (sender: TestSocket, parts: ReadonlyArray<Int16Array>): void => {
  for (const samples of parts)
    for (let start = 0; start < samples.length; start += 3200) sender.sendAudio(samples.slice(start, start + 3200))
}

const finish = async (sender: TestSocket): Promise<number> => {
  sender.send({ type: 'FINISH' })
  return (await sender.closed).code
}

const pairs = async (query = ''): Promise<ReadonlyArray<Json>> => {
  const { data } = (await anonymous.get<Listing<Json>>(`/translations/${query}`)).body
  return data.filter(({ model }) => String(model).startsWith('opus-mt-'))
}
const names = async (query: string): Promise<ReadonlyArray<unknown>> => (await pairs(query)).map(({ model }) => model)

/** Returns the process id of the service’s translation process (Linux). */
const translationProcess = (pid: number): number => {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
  )
  const found = children.find((child) =>
    readFileSync(`/proc/${child}/cmdline`, 'utf8').endsWith('engine-process.ts\0translation\0'),
  )
  if (found === undefined) throw new Error('no translation process')
  return Number(found)
}

test('translation pairs are listed completely, with nested languages, ordered by id', async (t) => {
  const rows = await pairs()
  t.deepEqual(
    rows.map(({ model, active }) => [model, active]),
    [
      ['opus-mt-en-de', true],
      ['opus-mt-en-it', true],
      ['opus-mt-en-pt', true],
    ],
  )
  const languages = (await anonymous.get<Listing<Json>>('/languages/')).body.data
  const language = (iso: string): unknown => {
    const { id, iso_639_1, name, active } = languages.find((row) => row['iso_639_1'] === iso) ?? {}
    return { id, iso_639_1, name, active }
  }
  for (const row of rows) {
    t.deepEqual(Object.keys(row), ['id', 'model', 'active', 'vram', 'lang_from', 'lang_to', 'created_at', 'updated_at'])
    t.true(Number.isSafeInteger(row['vram']) && Number(row['vram']) > 0)
    t.deepEqual(
      [row['lang_from'], row['lang_to']],
      String(row['model']).slice('opus-mt-'.length).split('-').map(language),
    )
    t.regex(String(row['created_at']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d$/)
    t.is(row['updated_at'], null)
  }
})

test('the filters match exact codes and combine with AND; unknown codes match nothing', async (t) => {
  t.deepEqual(await names('?lang_from=en'), ['opus-mt-en-de', 'opus-mt-en-it', 'opus-mt-en-pt'])
  t.deepEqual(await names('?lang_to=it'), ['opus-mt-en-it'])
  t.deepEqual(await names('?lang_from=en&lang_to=pt'), ['opus-mt-en-pt'])
  for (const query of [
    '?lang_from=de&lang_to=it',
    '?lang_from=EN',
    '?lang_from=English',
    '?lang_to=nowhere',
    '?lang_from=',
  ])
    t.deepEqual(await names(query), [])
  const { pagination } = (await anonymous.get<Listing<Json>>('/translations/?lang_to=it&limit=1')).body
  t.deepEqual(pagination, { total_items: 1, total_pages: 1, current_page: 1, per_page: 1 })
})

test('invalid targets are refused, repeated targets count once, and each target reserves memory', async (t) => {
  const client = await service.user('chooser', { max_translations: 2 })
  const plain = await client.createLive()
  const live = await client.createLive({ translations: ['it', 'de', 'it'] })
  const rows = await pairs()
  const row = (to: string): Json => rows.find(({ model }) => model === `opus-mt-en-${to}`) ?? {}
  t.deepEqual(live['translations'], [row('it'), row('de')])
  t.is(live.vram, plain.vram + Number(row('it')['vram']) + Number(row('de')['vram']))
  t.deepEqual((await client.get<Single<LiveJson>>(`/lives/${live.id}`)).body.data, live)
  t.deepEqual((await client.createLive({ translations: null }))['translations'], [])

  const refusal = async (translations: unknown): Promise<unknown> => {
    const { status, body } = await client.post('/lives', { model: 'demo-en', language: 'en', translations })
    return [status, Array.isArray(body['detail']) ? body['detail'].map((item: Json) => item['loc']) : body['detail']]
  }
  t.deepEqual(await refusal(['it', 'ja']), [404, 'Translation not found: en->ja'])
  t.deepEqual(await refusal(['en']), [404, 'Translation not found: en->en'])
  t.deepEqual(await refusal(['IT']), [404, 'Translation not found: en->IT'])
  t.deepEqual(await refusal('it'), [422, [['body', 'translations']]])
  t.deepEqual(await refusal(['it', 7]), [422, [['body', 'translations', 1]]])
  const strict = await service.user('strict', { max_translations: 1 })
  const tooMany = await strict.post('/lives', { model: 'demo-en', language: 'en', translations: ['it', 'de'] })
  t.deepEqual([tooMany.status, tooMany.body], [403, { detail: 'Maximum number of translations exceeded (1)' }])
  t.is((await strict.createLive({ translations: ['de', 'de'] }))['status'], 'pending')
})

test.serial(
  'sender and listeners get one translation per target and final, with its segment and times, in order',
  async (t) => {
    const client = await service.user('speaker')
    const live = await client.createLive({ translations: TARGETS })
    const listeners = await Promise.all([client.socket(live, 'listener'), client.socket(live, 'listener')])
    const sender = await open(client, live)
    // Translators start with their first session, which takes long on a busy machine.
    sendAudio(sender, speech.slice(0, 2))
    for (const to of TARGETS) await sender.frame(({ type, language }) => type === 'translation' && language === to)
    sendAudio(sender, speech.slice(2))
    t.is(await finish(sender), 1000)
    await Promise.all(listeners.map(({ closed }) => closed))

    t.true(finals(sender).length >= sentences.length)
    for (const to of TARGETS) {
      const lines = ofType(sender, 'translation').filter(({ language }) => language === to)
      t.deepEqual(
        lines.map(({ start, end, segment, final }) => ({ start, end, segment, final })),
        finals(sender).map(({ start, end, segment, final }) => ({ start, end, segment, final })),
      )
      for (const line of lines) {
        t.deepEqual(Object.keys(line), ['type', 'start', 'end', 'text', 'language', 'segment', 'final'])
        t.is(typeof line['text'], 'string')
        const source = sender.frames.findIndex(
          ({ type, segment, final }) => type === 'transcription' && segment === line['segment'] && final === true,
        )
        t.true(sender.frames.indexOf(line) > source, 'a translation comes after its source')
      }
    }
    const expectedTranslations = TARGETS.length * finals(sender).length
    t.is(ofType(sender, 'translation').length, expectedTranslations, 'translations have no other languages')
    t.is(sender.texts.at(-1), '{"status":"finished"}', 'all translations come before the last frame')
    const textFrames = (socket: TestSocket): ReadonlyArray<string> =>
      socket.texts.filter((text) => /"type":"trans(crip|la)tion"/.test(text))
    for (const listener of listeners) t.deepEqual(textFrames(listener), textFrames(sender))
    const metrics = (await anonymous.get<string>('/metrics')).body
    t.regex(metrics, /^stenolog_translations_total\{outcome="done"\} [1-9]/m)
    t.regex(metrics, /^stenolog_translation_lag_seconds 0$/m)
  },
)

test.serial('with COMPAT_STRICT a translation has exactly the five members', async (t) => {
  const strict = await startTestService(t, { MODELS_DIR: modelsDir, COMPAT_STRICT: '1' })
  const client = await strict.user('strict')
  const sender = await open(client, await client.createLive({ translations: ['de'] }))
  sendAudio(sender, speech.slice(0, 2))
  await sender.frame(({ type }) => type === 'translation')
  await finish(sender)
  const lines = ofType(sender, 'translation')
  t.true(lines.length > 0)
  for (const line of lines) t.deepEqual(Object.keys(line), ['type', 'start', 'end', 'text', 'language'])
})

const onLinux = process.platform === 'linux' ? test.serial : test.serial.skip

onLinux('a killed translation process is restarted, and every final of the session gets its translation', async (t) => {
  const client = await service.user('unlucky')
  const sender = await open(client, await client.createLive({ translations: ['it'] }))
  sendAudio(sender, speech.slice(0, 2))
  const first = await sender.frame(({ type }) => type === 'translation')
  const killed = translationProcess(service.pid())
  process.kill(killed, 'SIGKILL')
  sendAudio(sender, speech.slice(2))
  await sender.frame(({ type, segment }) => type === 'translation' && segment === 2)
  t.is(await finish(sender), 1000)
  t.is(first['segment'], 1)
  t.deepEqual(ofType(sender, 'translation').map(({ segment }) => segment), finals(sender).map(({ segment }) => segment))
  t.not(translationProcess(service.pid()), killed)
})

test.serial('a translator with deleted files does not affect the session’s transcription and end', async (t) => {
  const directory = await installTranslators(t, 'opus-mt-en-de', 'opus-mt-en-it')
  const other = await startTestService(t, { MODELS_DIR: directory })
  await rm(join(directory, 'opus-mt-en-de', 'onnx'), { recursive: true })
  t.false(existsSync(join(directory, 'opus-mt-en-de', 'onnx')))
  const client = await other.user('patient')
  const sender = await open(client, await client.createLive({ translations: ['de', 'it'] }))
  sendAudio(sender, speech.slice(0, 2))
  await sender.frame(({ type }) => type === 'translation')
  sendAudio(sender, speech.slice(2))
  t.is(await finish(sender), 1000)
  t.true(finals(sender).length >= sentences.length)
  t.deepEqual([...new Set(ofType(sender, 'translation').map(({ language }) => language))], ['it'])
  t.is(ofType(sender, 'translation').length, finals(sender).length)
  t.regex((await client.get<string>('/metrics')).body, /^stenolog_translations_total\{outcome="failed"\} [1-9]/m)
  t.regex(other.log(), /a translator fails/)
})

testWith('models/translate-en-es/onnx', 'models/translate-en-fr/onnx')(
  'the bundled pairs en to es and en to fr are active',
  async (t) => {
    const { data } = (await anonymous.get<Listing<Json>>('/translations/?lang_from=en')).body
    const shipped = data.filter(({ model }) => String(model).startsWith('translate-'))
    t.deepEqual(
      shipped.map(({ model, active }) => [model, active]),
      [['translate-en-es', true], ['translate-en-fr', true]],
    )
  },
)
