import test from 'ava'
import { stenolog } from '../../support/service/command-line.ts'
import { startCluster } from '../../support/cluster/cluster.ts'
import { sendWords, speakerAt } from '../../support/cluster/numbered-session.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { openLogOf } from '../../support/stores/stores.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const WORDS = 20

test.serial('commands never join a cluster as workers, and leave a rebuild to a running projector', async (t) => {
  t.timeout(300_000)
  const cluster = await startCluster(t)
  const [worker, lists] = [
    await cluster.add('worker', 'worker'),
    await cluster.add('lists', 'projector', { LOG_LEVEL: 'info' }),
  ]
  const api = await cluster.add('api', 'api')
  const speaker = await speakerAt(api.url())
  const live = await speaker.createLive({ live_retention: true })
  const elsewhere = await temporaryDirectory()
  t.teardown(elsewhere.remove)
  // The commands run on the data directory of a worker, on that of an API process, and on an unused folder.
  const directories = [worker.dataDirectory, api.dataDirectory, elsewhere.path]
  const sender = sendWords(api.url(), live, WORDS, 4)

  const { stores } = cluster
  // The commands have the name of the worker, so a command that joined the cluster would replace the worker.
  const NODE_NAME = worker.name
  for (const directory of directories) {
    const users = await stenolog(directory, ['users', 'list', '--json'], { ...stores, NODE_NAME })
    t.is(users.code, 0, users.stderr)
    t.true(users.stdout.includes('"admin"'), users.stdout)
    const models = await stenolog(directory, ['models', 'list', '--json'], { ...stores, NODE_NAME })
    t.is(models.code, 0, models.stderr)
    t.true(models.stdout.includes('demo-en'), models.stdout)
    const rebuilt = await stenolog(directory, ['rebuild', 'lives', '--json'], { ...stores, NODE_NAME })
    t.is(rebuilt.code, 0, rebuilt.stderr)
    t.like(JSON.parse(rebuilt.stdout), { projection: 'lives', corrected: 0 })
  }
  t.is(lists.log().match(/rebuild finished/g)?.length, directories.length)
  t.is(await (await sender).ended, 1000)

  const second = await speaker.createLive()
  const finished = await stenolog(worker.dataDirectory, ['lives', 'finish', String(second.id)], {
    ...stores,
    NODE_NAME,
  })
  t.is(finished.code, 0, finished.stderr)

  const log = await openLogOf({ dataDirectory: '', stores: cluster.stores })
  t.teardown(log.close)
  const admission = await log.read('admission')
  if (admission._tag === 'Left') throw new Error(admission.left.reason)
  const types = admission.right.map(({ type }) => type)
  t.is(types.filter((type) => type === 'WorkerJoined').length, 1)
  t.false(types.includes('WorkerLeft') || types.includes('Moved'), types.join())

  // Without a running projector the command itself rebuilds.
  for (const process of [api, worker, lists]) t.is(await process.stop(), 0, process.log())
  const rebuiltAlone = await eventually(async () => {
    const run = await stenolog(elsewhere.path, ['rebuild', 'lives', '--json'], stores)
    if (run.code !== 0) throw new Error(run.stderr)
    return run
  })
  t.like(JSON.parse(rebuiltAlone.stdout), { projection: 'lives', corrected: 0 })
})
