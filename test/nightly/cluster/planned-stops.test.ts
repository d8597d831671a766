import assert from 'node:assert/strict'
import test from 'ava'
import { startCluster, type ClusterProcess } from '../../support/cluster/cluster.ts'
import { longestSilence, sendWords, speakerAt } from '../../support/cluster/numbered-session.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { openTcpProxy } from '../../support/tools/tcp-proxy.ts'
import { openLiveSocket } from '../../../interfaces/client/live-socket.ts'
import type { LiveJson } from '../../support/service/client.ts'

/** A listener that reconnects as the client module does. */
interface ReturningListener {
  /** The times at which text arrived, final or not, by `performance.now`. */
  readonly times: () => ReadonlyArray<number>
  readonly stop: () => void
}

/** Listens at `url`, which may lead to another process at each connection. */
const returnTo = (url: string, live: LiveJson): ReturningListener => {
  const times: Array<number> = []
  let cursor: number | null = null
  const socket = openLiveSocket({
    url: `${url.replace(/^http/, 'ws')}${live.relative_path}`,
    token: live.listener_token,
    cursor: () => cursor,
    isReady: async () => false,
    onFrame: (frame) => {
      if (frame.type !== 'transcription') return
      times.push(performance.now())
      if (frame.final === true) cursor = Math.max(cursor ?? 0, frame.segment ?? 0)
    },
    onState: () => undefined,
  })
  return { times: () => times, stop: socket.close }
}

const ROUNDS = Number(process.env['STENOLOG_TEST_STOPS'] ?? 2)
const LISTENERS = 8
const WORDS = 60
const PATIENT = { timeoutMs: 60_000 }

const portOf = ({ url }: ClusterProcess): number => Number(new URL(url()).port)
const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
const linesOf = (process: ClusterProcess) =>
  process.log().split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Readonly<Record<string, unknown>>]
    } catch {
      return []
    }
  })

test.serial('listeners miss no more time at a planned stop of an api than at its kill', async (t) => {
  t.timeout(20 * 60_000)
  const cluster = await startCluster(t)
  await Promise.all([cluster.add('worker', 'worker'), cluster.add('lists', 'projector')])
  const [stays, goes] = [await cluster.add('stays', 'api'), await cluster.add('goes', 'api')]
  // Like a proxy that notices at once which process is ready.
  const proxy = await openTcpProxy(() => portOf(goes.isRunning() ? goes : stays))
  t.teardown(proxy.close)
  const speaker = await speakerAt(stays.url())
  const silences: Record<'kill' | 'stop', Array<number>> = { kill: [], stop: [] }
  for (let round = 0; round < ROUNDS; round += 1)
    for (const end of ['kill', 'stop'] as const) {
      const live = await speaker.createLive()
      const listeners = Array.from({ length: LISTENERS }, () => returnTo(`http://127.0.0.1:${proxy.port}`, live))
      const sender = await sendWords(stays.url(), live, WORDS)
      await eventually(() => assert.ok(listeners.every(({ times }) => times().length > 5)), PATIENT)
      const struck = performance.now()
      await goes[end]()
      t.is(await sender.ended, 1000)
      silences[end].push(...listeners.map(({ times }) => longestSilence({ times }, struck)))
      for (const { stop } of listeners) stop()
      await goes.start()
    }
  t.log(`median silence after a kill ${median(silences.kill)} ms, after a planned stop ${median(silences.stop)} ms`)
  t.true(median(silences.stop) <= median(silences.kill))
})

test.serial('workers that stop together with all apis do not wait for senders that are gone', async (t) => {
  t.timeout(10 * 60_000)
  const cluster = await startCluster(t)
  const drain = { DRAIN_TIMEOUT: '90s' }
  const workers = [await cluster.add('w1', 'worker', drain), await cluster.add('w2', 'worker', drain)]
  const others = [await cluster.add('lists', 'projector', drain), await cluster.add('api', 'api', drain)]
  const [, api] = others
  assert.ok(api)
  const speaker = await speakerAt(api.url())
  for (let sessions = 0; sessions < 4; sessions += 1) {
    const live = await speaker.createLive()
    await sendWords(api.url(), live, 500)
  }
  const begun = performance.now()
  const codes = await Promise.all([...workers, ...others].map((process) => process.stop()))
  t.deepEqual(codes, [0, 0, 0, 0])
  t.true(performance.now() - begun < 45_000, 'half of DRAIN_TIMEOUT')
})

test.serial('the log tells who took a session over, and without the event store no worker is available', async (t) => {
  t.timeout(10 * 60_000)
  const cluster = await startCluster(t)
  const [first, second] = [await cluster.add('w1', 'worker'), await cluster.add('w2', 'worker')]
  await cluster.add('lists', 'projector')
  const api = await cluster.add('api', 'api')
  const speaker = await speakerAt(api.url())
  const live = await speaker.createLive()
  const sender = await sendWords(api.url(), live, 500)
  const worker = await cluster.workerOf(live.id)
  const heir = worker === first ? second : first
  t.is(await worker.stop(), 0)
  const stopped = linesOf(worker).filter(({ msg }) => msg === 'stopping' || msg === 'stopped')
  t.like(stopped, [{ msg: 'stopping', why: 'SIGTERM', sessions: 1 }, { msg: 'stopped' }])
  await eventually(() => {
    const told = linesOf(heir).find(({ msg }) => msg === 'a session was taken over')
    assert.deepEqual([told?.['liveId'], told?.['from'], told?.['to']], [live.id, worker.name, heir.name])
    const members = linesOf(api).flatMap(({ msg, member }) => member === worker.name ? [msg] : [])
    assert.deepEqual(members, ['a member is up', 'a member stops as planned', 'a member has left'])
  }, PATIENT)

  heir.cut('eventstoredb')
  await eventually(async () => {
    const ready: unknown = await (await fetch(`${api.url()}/health/ready`)).json()
    assert.equal((ready as { readonly checks: { readonly workers: number } }).checks.workers, 0)
  }, PATIENT)
  t.regex(await (await fetch(`${api.url()}/metrics`)).text(), /^stenolog_workers 0$/m)
  const refused = await t.throwsAsync(() => speaker.createLive())
  t.regex(refused?.message ?? '', /503.*No worker is available to run sessions/s)
  heir.mend('eventstoredb')
  await eventually(() => speaker.createLive(), PATIENT)
  sender.cut()
  const told = linesOf(heir).filter(({ msg }) => /^the event store (does not answer|answers again)$/.test(String(msg)))
  t.log(JSON.stringify(told))
  t.true(told.length <= 6, 'one line for each cause, and one for each end')
  t.is(told.at(-1)?.['msg'], 'the event store answers again')
})
