/** Makes each alarm of docs/operate/monitor.md and cluster.md fire by its cause. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { sampleSentences, silence } from '../../support/audio/speech.ts'
import { startCluster } from '../../support/cluster/cluster.ts'
import { speakerAt } from '../../support/cluster/numbered-session.ts'
import { installTranslators } from '../../support/models/translators.ts'
import type { Client, Json, LiveJson, TestSocket } from '../../support/service/client.ts'
import { startTestService } from '../../support/service/service.ts'
import { eventually } from '../../support/tools/eventually.ts'

const PAGES = ['docs/operate/monitor.md', 'docs/operate/cluster.md']

/** The alarms that the documentation recommends: the expression of each rule, by its name. */
const documentedAlarms = (): ReadonlyMap<string, string> =>
  new Map(PAGES.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\{ alert: (\w+), expr: '([^']+)'/g)]
      .map(([, name = '', expression = '']): [string, string] => [name, expression])))

/** Returns the values of a metric. A selector such as `stenolog_leases{holder="nobody"}` selects one time series. */
const valuesOf = (selector: string, page: string): ReadonlyArray<number> =>
  page.split('\n').flatMap((line) => {
    const [series = '', value] = line.split(/ (?=\S+$)/)
    const isSelected = series === selector || series.startsWith(`${selector}{`)
    return isSelected && value !== undefined ? [Number(value)] : []
  })

const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> =
  { '>': (a, b) => a > b, '<': (a, b) => a < b, '==': (a, b) => a === b }

const RULE = new RegExp(
  /^(?:increase\((?<growing>.+)\[\w+\]\)|abs\((?<size>.+)\)|(?<plain>\S+)) /.source
    + /(?<sign>>|<|==) (?:(?<factor>[\d.]+) \* )?(?<limit>\S+)$/.source,
)

/**
 * Returns whether the condition of a rule holds. `pages`: two answers of /metrics, an earlier one for `increase`.
 * Throws for a metric that the answers do not have, and for a form of expression that the documentation does not use.
 */
const holds = (expression: string, [before, now]: readonly [string, string]): boolean => {
  const { growing, size, plain = '', sign = '', factor = '1', limit = '' } = RULE.exec(expression)?.groups ?? {}
  const compare = COMPARISONS[sign]
  if (compare === undefined) throw new Error(`unknown form of a rule: ${expression}`)
  const selector = growing ?? size ?? plain
  const [values, earlier] = [valuesOf(selector, now), valuesOf(selector, before)]
  if (values.length === 0) throw new Error(`no such metric: ${selector}`)
  const bound = Number(factor) * (valuesOf(limit, now)[0] ?? Number(limit))
  const seen = (value: number, n: number): number => {
    if (size !== undefined) return Math.abs(value)
    return growing === undefined ? value : value - (earlier[n] ?? 0)
  }
  return values.some((value, n) => compare(seen(value, n), bound))
}

/** Reads /metrics of a process, and adds the result of a probe of /health/ready. */
const metricsOf = async (url: string): Promise<string> => {
  const [metrics, ready] = await Promise.all([fetch(`${url}/metrics`), fetch(`${url}/health/ready`)])
  return `${await metrics.text()}\nprobe_success{job="stenolog-ready"} ${ready.status === 200 ? 1 : 0}\n`
}

const ALARMS = documentedAlarms()
const samples = (await sampleSentences())[0]?.samples ?? silence(1)
const PATIENT = { timeoutMs: 180_000 }
const MINUTE = 60_000
const PROCESSES = 3
const shown = new Set<string>()
const onLinux = process.platform === 'linux' ? test.serial : test.serial.skip

/** Observes the alarms of a process from now on. */
const watchAlarms = async (url: string) => {
  const before = await metricsOf(url)
  const isKnown = (rule: string): boolean => before.includes((/stenolog_\w+|probe_success/.exec(rule) ?? [''])[0])
  const firing = async (): Promise<ReadonlyArray<string>> => {
    const now = await metricsOf(url)
    return [...ALARMS]
      .filter(([, rule]) => isKnown(rule) && holds(rule.replace(/ < 5$/, ` < ${PROCESSES}`), [before, now]))
      .map(([name]) => name)
      .toSorted()
  }
  await eventually(async () => assert.deepEqual(await firing(), []), PATIENT)
  return {
    /** Waits until exactly these alarms fire. */
    until: (...names: ReadonlyArray<string>): Promise<void> =>
      eventually(async () => {
        assert.deepEqual(await firing(), names.toSorted())
        for (const name of names) shown.add(name)
      }, PATIENT),
  }
}

test.serial('killed and disconnected processes of a cluster', async (t) => {
  t.timeout(15 * MINUTE)
  const cluster = await startCluster(t)
  const add = (name: string, role: string) => cluster.add(name, role, { TAKEOVER_GRACE: '10m' })
  const [lists, api, worker] =
    await Promise.all([add('lists', 'projector'), add('api', 'api'), add('worker', 'worker')])
  const speaker = await speakerAt(api.url())
  await speaker.createLive()
  const alarms = await watchAlarms(api.url())

  await worker.kill()
  await alarms.until('NoWorker', 'ProcessMissing', 'SessionsWithoutWorker')
  await worker.start()
  await alarms.until()

  await lists.kill()
  await alarms.until('ListsBehind', 'ProcessMissing', 'TaskWithoutProcess')
  const ready = await fetch(`${api.url()}/health/ready`)
  t.is(ready.status, 200)
  t.regex(await ready.text(), /"no process runs this projection"/)
  await lists.start()
  await alarms.until()

  await cluster.mongo.turn({ turn: 'skew', member: 0, ms: -10_000 })
  await alarms.until('ClocksDiffer')
  const { checks } = (await (await fetch(`${api.url()}/health/ready`)).json()) as { readonly checks: Json }
  t.like(checks['clocksThatDiffer'], [{ store: 'mongodb' }])
  await cluster.mongo.turn({ turn: 'skew', member: 0, ms: 0 })
  await alarms.until()

  api.cut('eventstoredb')
  await alarms.until('NotReady')
})

/** Returns the id of a process that the service started for models (Linux). `work`: the end of its command line. */
const modelProcess = (service: number, work: string): number => {
  const children = readdirSync(`/proc/${service}/task`).flatMap((task) =>
    readFileSync(`/proc/${service}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean))
  const found = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(work))
  if (found === undefined) throw new Error(`no process ${work}`)
  return Number(found)
}

const openSender = async (client: Client, live: LiveJson): Promise<TestSocket> => {
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  return sender
}

const open = async (client: Client, members: Json = {}): Promise<TestSocket> =>
  openSender(client, await client.createLive(members))

const say = (sender: TestSocket, speech: Int16Array): void => {
  for (const samples of [speech, silence(1.5)])
    for (let start = 0; start < samples.length; start += 3200) sender.sendAudio(samples.slice(start, start + 3200))
}

onLinux('an engine that hangs', async (t) => {
  t.timeout(10 * MINUTE)
  const service = await startTestService(t)
  const sender = await open(await service.user('late'))
  say(sender, samples)
  await sender.frame(({ final }) => final === true)
  const alarms = await watchAlarms(service.url())
  const engine = modelProcess(service.pid(), 'engine-process')
  process.kill(engine, 'SIGSTOP')
  say(sender, samples)
  await alarms.until('TextIsLate')
  process.kill(engine, 'SIGCONT')
  await alarms.until()
  t.pass()
})

test.serial('more sessions than the machine computes', async (t) => {
  t.timeout(10 * MINUTE)
  const service = await startTestService(t)
  const client = await service.user('eager', { max_sessions: 1000 })
  const alarms = await watchAlarms(service.url())
  await eventually(async () => {
    await client.createLive()
    const page = await metricsOf(service.url())
    assert.ok(holds(ALARMS.get('NearlyFull') ?? '', [page, page]))
  }, PATIENT)
  await alarms.until('NearlyFull')
  t.pass()
})

onLinux('a translator that hangs', async (t) => {
  t.timeout(15 * MINUTE)
  const service = await startTestService(t, { MODELS_DIR: await installTranslators(t, 'opus-mt-en-de') })
  const sender = await open(await service.user('translated'), { translations: ['de'] })
  say(sender, samples)
  await sender.frame(({ type }) => type === 'translation')
  const alarms = await watchAlarms(service.url())
  process.kill(modelProcess(service.pid(), 'engine-process.ts\0translation'), 'SIGSTOP')
  for (let n = 0; n < 70; n += 1) say(sender, samples)
  await alarms.until('TranslatorTooSlow')
  t.pass()
})

/** Damages the newest row of a stream, and makes the file refuse the next rows of the stream. */
const failDisk = (dataDirectory: string, stream: string): void => {
  const log = new DatabaseSync(join(dataDirectory, 'events.sqlite'), { timeout: 10_000 })
  const { sid, rev } = log.prepare(
    'SELECT sid, max(rev) AS rev FROM events WHERE sid = (SELECT sid FROM streams WHERE name = ?) GROUP BY sid',
  ).get(stream) as { readonly sid: number; readonly rev: number }
  log.exec(`
    BEGIN;
    UPDATE events SET metadata = replace(metadata, 'recordedAt', 'recordedAu') WHERE sid = ${sid} AND rev = ${rev};
    CREATE TRIGGER failing BEFORE INSERT ON events WHEN NEW.sid = ${sid} BEGIN SELECT raise(ABORT, 'failing'); END;
    COMMIT;
  `)
  log.close()
}

test.serial('a disk that damages a transcript and refuses its next line', async (t) => {
  t.timeout(10 * MINUTE)
  const service = await startTestService(t)
  const client = await service.user('unlucky')
  const live = await client.createLive()
  const sender = await openSender(client, live)
  say(sender, samples)
  await sender.frame(({ final }) => final === true)
  const alarms = await watchAlarms(service.url())
  failDisk(service.dataDirectory, `segments-${live.id}`)
  say(sender, samples)
  await alarms.until('LinesLost')
  t.pass()
})

test.serial('the tests above made every documented alarm fire', (t) => {
  if (process.platform !== 'linux') return t.pass()
  return t.deepEqual([...shown].toSorted(), [...ALARMS.keys()].toSorted())
})
