import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { isOnServers } from '../../support/stores/chosen-stores.ts'
import { eventually } from '../../support/tools/eventually.ts'
import type { Client, Json, Listing, Single } from '../../support/service/client.ts'
import { startHub } from '../../support/models/hub.ts'
import { runTestService } from '../../support/service/service.ts'

const ID = 'someone/whisper-base'
const teardowns: Array<() => unknown> = []
const hub = await startHub({ teardown: (end) => void teardowns.unshift(end) }, ID, 'models/demo-en')
const service = await runTestService({ HUB_URL: hub.url.href })
test.after.always(async () => {
  await service.dispose()
  for (const teardown of teardowns) await teardown()
})

/** A job may load models, which takes long on a busy machine. */
const JOB_PATIENCE = { timeoutMs: 90_000 }

const start = async (client: Client, body: Json): Promise<Json> => {
  const answer = await client.post<Single<Json>>('/admin/jobs', body)
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

const jobOf = async (client: Client, id: unknown): Promise<Json> =>
  (await client.get<Single<Json>>(`/admin/jobs/${String(id)}`)).body.data

const untilJobEnds = (client: Client, id: unknown): Promise<Json> =>
  eventually(async () => {
    const job = await jobOf(client, id)
    if (job['status'] === 'running') throw new Error(`job ${String(id)} still runs: ${String(job['detail'])}`)
    return job
  }, JOB_PATIENCE)

const baseModel = async (client: Client): Promise<Json | undefined> =>
  (await client.get<Listing<Json>>('/models?name=base')).body.data[0]

/** Makes the next pull stall in the middle of a file. */
const stallNextPull = (): void =>
  void hub.faults.push({ path: /^onnx\/encoder/, times: 1, kind: { breaksAfter: 100_000, silent: true } })

const untilStalled = (client: Client, id: unknown): Promise<Json> =>
  eventually(async () => {
    const job = await jobOf(client, id)
    if (Number(job['done']) < 100_000) throw new Error(`the pull has not stalled yet: ${JSON.stringify(job)}`)
    return job
  }, JOB_PATIENCE)

test.serial('a pull reports progress, can be cancelled, and resumes after a kill', async (t) => {
  t.timeout(300_000)
  let admin = await service.admin()
  stallNextPull()
  const first = await start(admin, { kind: 'pull', subject: ID })
  t.deepEqual(Object.keys(first), [
    'id',
    'kind',
    'subject',
    'status',
    'done',
    'total',
    'unit',
    'detail',
    'result',
    'actor',
    'process',
    'created_at',
    'updated_at',
  ])
  t.like(first, { kind: 'pull', subject: ID, status: 'running', unit: 'bytes', result: null, actor: 'user:1' })
  t.regex(String(first['process']), isOnServers ? /^node-[0-9a-f]+$/ : /^local$/)
  const stalled = await untilStalled(admin, first['id'])
  t.true(Number(stalled['total']) > Number(stalled['done']))
  t.regex(String(stalled['detail']), /^onnx\/encoder/)
  const parallel = await admin.post('/admin/jobs', { kind: 'pull', subject: 'tiny' })
  t.deepEqual([parallel.status, parallel.body], [409, { detail: 'Another job of this kind is running: pull' }])
  const cancelled = await admin.request('DELETE', `/admin/jobs/${String(first['id'])}`)
  t.deepEqual([cancelled.status, cancelled.body], [200, { message: 'Job cancelled' }])
  t.is((await untilJobEnds(admin, first['id']))['status'], 'cancelled')

  stallNextPull()
  const second = await start(admin, { kind: 'pull', subject: ID })
  await untilStalled(admin, second['id'])
  await service.kill('SIGKILL')
  await service.start()
  admin = await service.admin()
  t.like(await jobOf(admin, second['id']), { status: 'failed', detail: 'interrupted by a restart of the service' })
  t.is(await baseModel(admin), undefined)

  const third = await untilJobEnds(admin, (await start(admin, { kind: 'pull', subject: ID }))['id'])
  t.like(third, { status: 'done', detail: '', unit: 'bytes' })
  t.is(third['done'], third['total'])
  t.like(third['result'], { name: 'base', source: ID })
  t.like(await baseModel(admin), { name: 'base', active: true })
  t.true(existsSync(join(service.dataDirectory, 'models', 'base')), 'the model is in the data directory')
  t.true(
    hub.requests.some((request) => /^storage onnx\/encoder.* bytes=/.test(request)),
    'the partial file was not downloaded again',
  )
  const repeated = await untilJobEnds(admin, (await start(admin, { kind: 'pull', subject: ID }))['id'])
  t.is(repeated['status'], 'failed')
  t.regex(String(repeated['detail']), /^base is already installed/)
})

test.serial('verify, check and rebuild jobs run in parallel', async (t) => {
  t.timeout(300_000)
  const admin = await service.admin()
  const [verify, check] = [await start(admin, { kind: 'verify' }), await start(admin, { kind: 'check' })]
  const rebuild = await start(admin, { kind: 'rebuild', subject: 'users' })
  const verified = await untilJobEnds(admin, verify['id'])
  t.like(verified, { status: 'done', unit: 'bytes', result: { ok: true } })
  t.is(verified['done'], verified['total'])
  const { models } = verified['result'] as { readonly models: ReadonlyArray<Json> }
  t.deepEqual(models.map(({ name, kept }) => `${String(name)} ${String(kept)}`).toSorted(), [
    'base true', 'demo-en false', 'translate-en-es false', 'translate-en-fr false',
  ], 'only results of models with stored hashes are kept')
  const checked = await untilJobEnds(admin, check['id'])
  t.like(checked, { status: 'done', unit: 'rows', result: { ok: true } })
  t.true(Number(checked['done']) > 0)
  const rebuilt = await untilJobEnds(admin, rebuild['id'])
  t.like(rebuilt, { status: 'done', unit: 'events' })
  t.like((rebuilt['result'] as { readonly read_models: ReadonlyArray<Json> }).read_models[0], {
    name: 'users',
    corrected: 0,
  })
  const listed = (await admin.get<Listing<Json>>('/admin/jobs?kind=check&kind=verify&status=done')).body
  t.deepEqual(listed.data.map(({ kind }) => kind), ['check', 'verify'])
  t.is((await admin.get<Listing<Json>>('/admin/jobs?limit=1')).body.pagination.per_page, 1)
})

test.serial('administrators can list installed models and remove unused ones that are not bundled', async (t) => {
  const admin = await service.admin()
  const rowOf = async (path: string, name: string): Promise<Json> => {
    const { data } = (await admin.get<Listing<Json>>(path)).body
    return data.find((row) => [row['name'], row['model']].includes(name)) ?? {}
  }
  const remove = (path: string, id: unknown) => admin.request('DELETE', `${path}/${String(id)}`)
  const base = await rowOf('/admin/models', 'base')
  t.deepEqual(Object.keys(base), [
    'id',
    'name',
    'active',
    'vram',
    'created_at',
    'updated_at',
    'languages',
    'installed',
    'ships',
    'loads',
    'precision',
    'source',
    'bytes',
    'measured',
    'open_lives',
  ])
  t.like(base, {
    active: true,
    languages: ['en'],
    installed: true,
    ships: false,
    precision: 'int8',
    source: ID,
    loads: null,
    open_lives: 0,
  })
  t.true(Number(base['bytes']) > 1_000_000)
  t.like(await rowOf('/admin/models', 'tiny'), {
    active: false,
    installed: false,
    ships: false,
    bytes: null,
    source: null,
    measured: false,
  })
  const demo = await rowOf('/admin/models', 'demo-en')
  t.like(demo, { installed: true, ships: true })
  const spanish = await rowOf('/admin/translations', 'translate-en-es')
  t.like(spanish, {
    installed: true,
    ships: true,
    languages: ['en', 'es'],
    lang_to: { ...(spanish['lang_to'] as Json) },
  })

  const live = await admin.createLive({ model: 'base' })
  t.is((await rowOf('/admin/models', 'base'))['open_lives'], 1)
  const inUse = await remove('/admin/models', base['id'])
  t.deepEqual([inUse.status, inUse.body], [409, { detail: 'Model is in use by 1 open session' }])
  for (const [path, { id }] of [['/admin/models', demo], ['/admin/translations', spanish]] as const)
    t.is((await remove(path, id)).status, 400, path)
  t.is((await remove('/admin/models', 4711)).status, 404)
  t.is((await remove('/admin/translations', 4711)).status, 404)

  const sender = await admin.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  t.is((await rowOf('/admin/models', 'base'))['loads'], true)
  sender.send({ type: 'FINISH' })
  await sender.closed
  await admin.untilStatus(live, 'finished')
  const removed = await eventually(async () => {
    const answer = await remove('/admin/models', base['id'])
    if (answer.status === 409) throw new Error('its memory is not released yet')
    return answer
  })
  t.deepEqual([removed.status, removed.body], [200, { message: 'Model removed' }])
  t.false(existsSync(join(service.dataDirectory, 'models', 'base')))
  t.deepEqual([await baseModel(admin), await rowOf('/admin/models', 'base')], [undefined, {}])
  t.is((await remove('/admin/models', base['id'])).status, 404)
})

test.serial('an invalid job is 422, an unknown job 404, and only administrators can start jobs', async (t) => {
  const admin = await service.admin()
  const wrong: ReadonlyArray<readonly [Json, string]> = [
    [{}, 'kind'],
    [{ kind: 'sing' }, 'kind'],
    [{ kind: 'pull' }, 'subject'],
    [{ kind: 'pull', subject: '../etc' }, 'subject'],
    [{ kind: 'pull', subject: '/etc' }, 'subject'],
    [{ kind: 'verify', subject: 'nonesuch' }, 'subject'],
    [{ kind: 'check', subject: 'users' }, 'subject'],
    [{ kind: 'rebuild', subject: 'nonesuch' }, 'subject'],
    [{ kind: 'pull', subject: 'base', precision: 'int4' }, 'precision'],
  ]
  for (const [body, member] of wrong) {
    const answer = await admin.post<{ readonly detail: ReadonlyArray<Json> }>('/admin/jobs', body)
    t.is(answer.status, 422, JSON.stringify(body))
    t.deepEqual(answer.body.detail[0]?.['loc'], ['body', member], JSON.stringify(body))
  }
  for (const method of ['GET', 'DELETE'])
    t.deepEqual((await admin.request(method, '/admin/jobs/4711')).body, { detail: 'Job not found' }, method)
  t.is((await admin.get('/admin/jobs?kind=sing')).status, 422)
  const user = await service.user('worker')
  t.is((await user.post('/admin/jobs', { kind: 'check' })).status, 403)
})
