import { join } from 'node:path'
import test from 'ava'
import { JobEnded, JobStarted, JOBS_STREAM } from '../../../domain/jobs/events.ts'
import { logIn, type Client, type Json, type Listing, type Single } from '../../support/service/client.ts'
import { startCluster, type ClusterProcess } from '../../support/cluster/cluster.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startHub } from '../../support/models/hub.ts'
import { ADMIN } from '../../support/service/service.ts'

const ID = 'someone/whisper-base'
const PULL = { kind: 'pull', subject: ID }

const adminOf = ({ url }: ClusterProcess): Promise<Client> => logIn(url(), ADMIN.username, ADMIN.password)

const jobAt = async (client: Client, id: unknown): Promise<Json> => {
  const { status, body } = await client.get<Single<Json>>(`/admin/jobs/${String(id)}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.data
}

const untilJob = (client: Client, id: unknown, wanted: (job: Json) => boolean): Promise<Json> =>
  eventually(async () => {
    const job = await jobAt(client, id)
    if (!wanted(job)) throw new Error(JSON.stringify(job))
    return job
  })

const hasEnded = ({ status }: Json): boolean => status !== 'running'

test.serial('every process shows and cancels a job, and a job fails only when its own process is lost', async (t) => {
  t.timeout(480_000)
  const hub = await startHub(t, ID, 'models/demo-en')
  const cluster = await startCluster(t)
  const settings = { HUB_URL: hub.url.href }
  const [one, two] = [await cluster.add('one', 'all', settings), await cluster.add('two', 'all', settings)]
  let [first, second] = [await adminOf(one), await adminOf(two)]
  /** Starts a pull at the first process; the hub stops sending in the middle of a file. */
  const heldPull = async (): Promise<unknown> => {
    hub.faults.push({ path: /^onnx\/encoder/, times: 1, kind: { breaksAfter: 100_000, silent: true } })
    const { status, body } = await first.post<Single<Json>>('/admin/jobs', PULL)
    t.is(status, 200, JSON.stringify(body))
    // The other process shows the job right after the answer.
    t.like(await jobAt(second, body.data['id']), { kind: 'pull', subject: ID, process: 'one', actor: 'user:1' })
    return body.data['id']
  }

  const cancelled = await heldPull()
  const shown = await untilJob(second, cancelled, ({ done }) => Number(done) >= 100_000)
  t.like(shown, { status: 'running', total: (await jobAt(first, cancelled))['total'] })
  const again = await second.post('/admin/jobs', PULL)
  t.deepEqual([again.status, again.body], [409, { detail: 'Another job of this kind is running: pull' }])

  t.is(await two.stop(), 0, two.log())
  await two.start()
  second = await adminOf(two)
  const listed = (await second.get<Listing<Json>>('/admin/jobs?status=running')).body.data
  t.deepEqual(
    listed.map(({ id, process }) => [id, process]),
    [[cancelled, 'one']],
    'the job continues while the other process restarts',
  )
  t.deepEqual((await cluster.read(JOBS_STREAM)).map(({ type }) => type), [JobStarted.type])

  const answer = await second.request('DELETE', `/admin/jobs/${String(cancelled)}`)
  t.deepEqual([answer.status, answer.body], [200, { message: 'Job cancelled' }])
  for (const client of [first, second]) t.like(await untilJob(client, cancelled, hasEnded), { status: 'cancelled' })

  const lost = await heldPull()
  one.cut('mongodb')
  t.like(await untilJob(second, lost, hasEnded), { status: 'failed', detail: 'interrupted: process one was lost' })
  one.mend('mongodb')
  t.like(await untilJob(first, lost, hasEnded), { status: 'failed' })

  const killed = await heldPull()
  await one.kill()
  t.like(await untilJob(second, killed, hasEnded), { status: 'failed', detail: 'interrupted: process one was lost' })
  await one.start()
  first = await adminOf(one)
  const after = await second.post<Single<Json>>('/admin/jobs', { kind: 'verify' })
  t.like(await untilJob(first, after.body.data['id'], hasEnded), { status: 'done', process: 'two' })
  const ended = (await cluster.read(JOBS_STREAM)).filter(({ type }) => type === JobEnded.type)
  t.is(ended.length, 4, 'every job has one end')

  const worker = await cluster.add('worker', 'worker')
  const pull = ['models', 'pull', './test/support/fixtures/engine/tiny-whisper', '--as', 'mine', '--no-load']
  const pulled = await stenolog(worker.dataDirectory, pull, { MODELS_DIR: join(worker.dataDirectory, 'models') })
  t.is(pulled.code, 0, pulled.stderr)
  t.regex(pulled.stdout, /the running worker lists it within seconds/)
  await eventually(async () => {
    const { data } = (await first.get<Listing<Json>>('/models?name=mine')).body
    if (data[0]?.['active'] !== true) throw new Error(JSON.stringify(data))
  })
})
