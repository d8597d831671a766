import assert from 'node:assert/strict'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { logIn, type Listing, type LiveJson, type Single } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { dataDirectoryFor, launchSettings, createUser } from '../../support/service/launch-settings.ts'
import { launch } from '../../support/service/launch.ts'
import { passwordOf } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'
import { startCluster } from '../../support/cluster/cluster.ts'
import { speakerAt } from '../../support/cluster/numbered-session.ts'
import { eventually } from '../../support/tools/eventually.ts'

const HOUR = 3600
const YEAR_IN_HOURS = 8766

/** A library that changes the clock of a process. The Debian package libfaketime installs it. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
const withFaketime = existsSync(FAKETIME) ? test.serial : test.serial.skip

/** Environment variables of a process whose clock a file sets. */
const clockVariables = (file: string) => ({
  LD_PRELOAD: FAKETIME, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1',
})

/** A clock for processes with `variables`. */
const settableClock = async (t: ExecutionContext) => {
  const file = join(await dataDirectoryFor(t), 'offset')
  const jumpTo = (hours: number): void => {
    writeFileSync(`${file}.new`, `${hours >= 0 ? '+' : ''}${hours}h\n`)
    renameSync(`${file}.new`, file)
  }
  jumpTo(0)
  return { jumpTo, variables: clockVariables(file) }
}

/** Returns the seconds by which the stores are ahead of a process, by its readiness and by its metrics. */
const skewsOf = async (url: string) => {
  const [ready, metrics] = await Promise.all([fetch(`${url}/health/ready`), fetch(`${url}/metrics`)])
  const { checks } = (await ready.json()) as {
    readonly checks: { readonly clocksThatDiffer: ReadonlyArray<{ readonly store: string; readonly seconds: number }> }
  }
  const shown = [...(await metrics.text()).matchAll(/^stenolog_clock_skew_seconds\{store="(\w+)"\} (\S+)$/gm)]
  return {
    status: ready.status,
    told: checks.clocksThatDiffer.map(({ store, seconds }) => [store, Math.round(seconds / HOUR)] as const),
    measured: shown.map(([, store, seconds]) => [store, Math.round(Number(seconds) / HOUR)] as const),
  }
}

withFaketime('clock jumps of an hour end no session and no login, and the list keeps its order', async (t) => {
  t.timeout(600_000)
  const directory = await dataDirectoryFor(t)
  const { jumpTo, variables } = await settableClock(t)
  const service = launch(t, launchSettings(directory, { STENOLOG_PENDING_TIMEOUT: '3h', ...variables }))
  const { client } = await createUser(service, 'traveller')
  const [active, pending] = [await client.createLive(), await client.createLive()]
  const [sender, listener] = [await client.socket(active, 'sender'), await client.socket(active, 'listener')]
  sender.send({ type: 'config' })
  sender.sendAudio(silence(0.5))
  await client.untilStatus(active, 'active')
  const created: Array<LiveJson> = [active, pending]
  for (const hours of [1, -1, 0]) {
    jumpTo(hours)
    const live = await client.createLive()
    const offsetHours = (Date.parse(live.created_at) - Date.now()) / 3_600_000
    t.true(Math.abs(offsetHours - hours) < 0.5, `the clock jumped: ${live.created_at}`)
    created.push(live)
    sender.sendAudio(silence(0.5))
    const again = await logIn(client.url, 'traveller', passwordOf('traveller'))
    t.is((await again.put(`/lives/${live.id}/finish`)).status, 200, 'a new login works')
    t.is((await client.get('/lives/')).status, 200, 'the old login works')
    t.is((await client.get<Single<LiveJson>>(`/lives/${pending.id}`)).body.data.status, 'pending')
    t.is((await client.get<Single<LiveJson>>(`/lives/${active.id}`)).body.data.status, 'active')
  }
  const listed = (await client.get<Listing<LiveJson>>('/lives/')).body.data.map(({ id }) => id)
  t.deepEqual(listed, created.map(({ id }) => id).toReversed())
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  t.is((await listener.closed).code, 1000)
  const types = (
    await client.get<{ readonly data: ReadonlyArray<{ readonly type: string }> }>(`/lives/${active.id}/history`)
  ).body.data.map(({ type }) => type)
  t.is(types[0], 'LiveCreated')
  t.is(types.at(-1), 'LiveFinished')
  const checked = await stenolog(directory, ['check'])
  t.is(checked.code, 0, checked.stdout)
  service.kill('SIGTERM')
  t.is(await service.exited, 0)
})

for (const [start, hours] of [['a year ahead', YEAR_IN_HOURS], ['an hour behind', -1]] as const)
  withFaketime(`a service that starts ${start} loses nothing when its clock is set right`, async (t) => {
    t.timeout(600_000)
    const directory = await dataDirectoryFor(t)
    const { jumpTo, variables } = await settableClock(t)
    const settings = launchSettings(directory, { STENOLOG_PENDING_TIMEOUT: '3h', ...variables })
    jumpTo(hours)
    const service = launch(t, settings)
    const speaker = await speakerAt(await service.url())
    const [kept, waiting, active] =
      [await speaker.createLive({ live_retention: true }), await speaker.createLive(), await speaker.createLive()]
    const said = await speaker.socket(kept, 'sender')
    said.send({ type: 'config' })
    said.sendAudio((await sampleSentences())[0]?.samples ?? silence(1))
    said.sendAudio(silence(1.5))
    await said.frame(({ final }) => final === true)
    said.send({ type: 'FINISH' })
    t.is((await said.closed).code, 1000)
    const text = (await speaker.get<string>(`/lives/${kept.id}/transcript?format=txt`)).body
    t.true(text.length > 10, text)
    const sender = await speaker.socket(active, 'sender')
    sender.send({ type: 'config' })
    sender.sendAudio(silence(0.5))
    await speaker.untilStatus(active, 'active')

    const isAllThere = async (): Promise<void> => {
      const client = await speakerAt(await service.url())
      const listed = (await client.get<Listing<LiveJson>>('/lives/')).body.data
      t.deepEqual(listed.map(({ id, status }) => [id, status]), [
        [active.id, 'active'], [waiting.id, 'pending'], [kept.id, 'finished'],
      ])
      t.is((await client.get<string>(`/lives/${kept.id}/transcript?format=txt`)).body, text)
    }
    await isAllThere()
    jumpTo(0)
    await eventually(async () => {
      const { status, told, measured } = await skewsOf(await service.url())
      assert.deepEqual({ status, told, measured },
        { status: 200, told: [['event_store', hours]], measured: [['event_store', hours]] })
    })
    await isAllThere()
    sender.sendAudio(silence(0.5))
    sender.send({ type: 'FINISH' })
    t.is((await sender.closed).code, 1000)
    service.kill('SIGTERM')
    t.is(await service.exited, 0)

    const again = launch(t, settings)
    const client = await speakerAt(await again.url())
    t.is((await client.get<string>(`/lives/${kept.id}/transcript?format=txt`)).body, text)
    t.is((await client.get<Single<LiveJson>>(`/lives/${waiting.id}`)).body.data.status, 'pending')
    const checked = await stenolog(directory, ['check'])
    t.is(checked.code, 0, checked.stdout)
  })

withFaketime('a process of a cluster whose clock is an hour behind tells it, and works', async (t) => {
  t.timeout(600_000)
  const cluster = await startCluster(t)
  const { jumpTo, variables } = await settableClock(t)
  jumpTo(-1)
  const [right, behind] = [await cluster.add('right'), await cluster.add('behind', 'all', {}, variables)]
  const both = [['event_store', 1], ['mongodb', 1]]
  await eventually(async () =>
    assert.deepEqual(await skewsOf(behind.url()), { status: 200, told: both, measured: both }))
  t.like(await skewsOf(right.url()), { status: 200, told: [] })
  const [client, other] = [await speakerAt(behind.url()), await speakerAt(right.url())]
  const live = await client.createLive()
  t.is((await other.get<Single<LiveJson>>(`/lives/${live.id}`)).body.data.status, 'pending')
  t.is((await other.put(`/lives/${live.id}/finish`)).status, 200)
  jumpTo(0)
  await eventually(async () => assert.deepEqual((await skewsOf(behind.url())).told, []), { timeoutMs: 30_000 })
})
