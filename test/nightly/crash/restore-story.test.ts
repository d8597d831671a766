import { join } from 'node:path'
import { copyFile, rm } from 'node:fs/promises'
import test from 'ava'
import { FORMAT } from '../../../infrastructure/store-rules/format.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { assertRestored, loseTime, markAs, succeed } from '../../support/restores/story.ts'

test('after a restore no id is given out again, new sessions keep their text, and all logins have ended', async (t) => {
  t.timeout(10 * 60_000)
  const lost = await loseTime(t)
  const output = await succeed(lost.service, 'restore', lost.backup, '--replace')
  t.regex(output, /^All logins have ended: everybody must log in again\.$/m)
  t.regex(output, new RegExp(`^The next ids are: session ${lost.lastLive + 1}, user ${lost.lastUser + 1}, `, 'm'))
  await lost.service.start()
  await assertRestored(t, lost)
  await lost.service.kill('SIGTERM')

  // The same backup again: the ids and logins of the time since the first restore are lost as well.
  const again = await succeed(lost.service, 'restore', lost.backup, '--replace')
  const [, live, user] = /session (\d+), user (\d+)/.exec(again) ?? []
  t.true(Number(live) > lost.lastLive + 3 && Number(user) > lost.lastUser + 2, again)
  await lost.service.start()
  await assertRestored(t, { ...lost, lastLive: Number(live) - 1, lastUser: Number(user) - 1 })
})

test('a restore reads a log and a keyring of a newer version, and refuses what it cannot read', async (t) => {
  t.timeout(10 * 60_000)
  const lost = await loseTime(t)
  const { service, backup } = lost
  markAs(service.dataDirectory, FORMAT + 1, ['documents.sqlite', 'events.sqlite', 'keyring.sqlite'])
  const { dataDirectory } = service
  await succeed(service, 'restore', backup, '--replace')
  await service.start()
  await assertRestored(t, lost)
  await service.kill('SIGTERM')
  const file = join(dataDirectory, 'keyring.sqlite')
  await rm(file)
  await rm(join(dataDirectory, 'events.sqlite'))
  const output = await succeed(service, 'restore', backup, '--replace')
  t.regex(output, /1000000 ids of each kind were skipped, and 0 API tokens switched off/)
  await service.start()
  await assertRestored(t, { ...lost, lastLive: 1_000_001, lastUser: 1_000_001 })
  t.is((await stenolog(dataDirectory, ['restore', '--check'])).code, 0)
})

test('a log that was put back by other means stops a rebuild, and a start treats it as restored', async (t) => {
  t.timeout(10 * 60_000)
  const lost = await loseTime(t)
  const { service, backup } = lost
  const { dataDirectory } = service
  for (const ending of ['-wal', '-shm']) await rm(join(dataDirectory, `events.sqlite${ending}`), { force: true })
  await copyFile(join(backup, 'events.sqlite'), join(dataDirectory, 'events.sqlite'))
  const rebuilt = await stenolog(dataDirectory, ['rebuild', 'lives'])
  t.is(rebuilt.code, 1)
  t.regex(rebuilt.stderr, /not rebuilt: the log is an older copy/)
  await service.start()
  t.regex(service.log(), /the log has lost its end, or is an older copy: it is treated as restored/)
  t.regex(service.log(), /All logins have ended/)
  await assertRestored(t, lost)
  await service.kill('SIGTERM')
  await succeed(service, 'check')
})
