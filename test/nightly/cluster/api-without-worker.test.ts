import test from 'ava'
import { logIn } from '../../support/service/client.ts'
import { startCluster } from '../../support/cluster/cluster.ts'
import { speakerAt } from '../../support/cluster/numbered-session.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { ADMIN } from '../../support/service/service.ts'

const NO_MODELS_HERE = 'This process runs no models: install and remove them on the machine of a worker'

test.serial('an API process without a worker is ready, refuses sessions and leaves models to workers', async (t) => {
  t.timeout(300_000)
  const cluster = await startCluster(t)
  await cluster.add('lists', 'projector')
  const api = await cluster.add('api', 'api')
  const metrics = async () => (await fetch(`${api.url()}/metrics`)).text()
  const ready = async () => {
    const answer = await fetch(`${api.url()}/health/ready`)
    return { code: answer.status, ...((await answer.json()) as { readonly checks: { readonly workers: number } }) }
  }
  const speaker = await speakerAt(api.url())
  const refused = await t.throwsAsync(() => speaker.createLive())
  t.regex(refused?.message ?? '', /503.*No worker is available to run sessions/s)
  t.like(await ready(), { code: 200, checks: { workers: 0, engine: 'none' } })
  t.regex(await metrics(), /^stenolog_workers 0$/m)

  const admin = await logIn(api.url(), ADMIN.username, ADMIN.password)
  for (const [method, path] of [
    ['POST', '/admin/rescan'],
    ['DELETE', '/admin/models/1'],
    ['DELETE', '/admin/translations/1'],
  ] as const)
    t.like(await admin.request(method, path), { status: 409, body: { detail: NO_MODELS_HERE } }, path)
  for (const kind of ['pull', 'verify']) {
    const { status, body } = await admin.post('/admin/jobs', { kind, subject: 'base' })
    t.deepEqual([status, body], [409, { detail: NO_MODELS_HERE }], kind)
  }

  await cluster.add('worker', 'worker')
  await eventually(async () => {
    if ((await ready()).checks.workers !== 1) throw new Error('the API process does not count the worker yet')
    await speaker.createLive()
  })
  const page = await metrics()
  t.regex(page, /^stenolog_members\{state="up"\} 3$/m)
  t.regex(page, /^stenolog_leases\{holder="other"\} [1-9]\d*$/m)
})
