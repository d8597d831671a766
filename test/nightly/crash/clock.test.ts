import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { logIn } from '../../support/service/client.ts'
import type { Listing, LiveJson, Single } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { dataDirectoryFor, launchSettings, createUser } from '../../support/service/launch-settings.ts'
import { launch } from '../../support/service/launch.ts'
import { passwordOf } from '../../support/service/service.ts'
import { silence } from '../../support/audio/speech.ts'

/** A library that changes the clock of a process. The Debian package libfaketime installs it. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
const withFaketime = existsSync(FAKETIME) ? test.serial : test.serial.skip

withFaketime('clock jumps of an hour end no session and no login, and the list keeps its order [F15]', async (t) => {
  t.timeout(600_000)
  const directory = await dataDirectoryFor(t)
  const file = join(await dataDirectoryFor(t), 'offset')
  const jumpTo = (hours: number): void => {
    writeFileSync(`${file}.new`, `${hours >= 0 ? '+' : ''}${hours}h\n`)
    renameSync(`${file}.new`, file)
  }
  jumpTo(0)
  const service = launch(
    t,
    launchSettings(directory, {
      STENOLOG_PENDING_TIMEOUT: '3h',
      LD_PRELOAD: FAKETIME,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }),
  )
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
