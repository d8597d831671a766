import assert from 'node:assert/strict'
import { handshake, logIn } from '../../../support/service/client.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { launch } from '../../../support/service/launch.ts'
import { programPath, testWith } from '../../../support/running/skip-unless.ts'
import { ADMIN } from '../../../support/service/service.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'

/** File descriptors of the process. One quarter is for WebSockets; one eighth of this quarter is for senders only. */
const DESCRIPTORS = 256

testWith(programPath('prlimit'))('listeners cannot use the connections that are reserved for senders', async (t) => {
  const directory = await temporaryDirectory()
  const service = launch(
    t,
    {
      STENOLOG_PORT: '0', STENOLOG_DATA_DIR: directory.path, STENOLOG_DRAIN_TIMEOUT: '0s', STENOLOG_VRAM_MB: '100000',
      STENOLOG_OVERCOMMIT: '0',
      STENOLOG_ADMIN_USERNAME: ADMIN.username, STENOLOG_ADMIN_PASSWORD: ADMIN.password,
    },
    ['prlimit', `--nofile=${DESCRIPTORS}`],
  )
  t.teardown(directory.remove)
  const url = await service.url()
  const client = await logIn(url, ADMIN.username, ADMIN.password)
  const crowded = await client.createLive()
  const socketUrl = `${url.replace('http', 'ws')}${crowded.relative_path}?token=`
  const maxSockets = DESCRIPTORS / 4
  const listeners = maxSockets - maxSockets / 8
  for (let n = 0; n < listeners; n += 1) await client.socket(crowded, 'listener')
  const refused = await handshake(socketUrl + crowded.listener_token)
  t.is(refused.status, 429)
  t.deepEqual(refused.body, { detail: 'Too many requests' })
  t.regex(refused.headers.get('retry-after') ?? '', /^\d+$/)
  for (let n = 0; n < 3; n += 1) {
    const live = await client.createLive()
    const sender = await client.socket(live, 'sender')
    sender.send({ type: 'config' })
    await eventually(() => assert.ok(sender.frames.some(({ status }) => status === 'started')), { timeoutMs: 60_000 })
  }
  t.is((await handshake(socketUrl + crowded.listener_token)).status, 429)
})
