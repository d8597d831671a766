import { spawnSync } from 'node:child_process'
import { chownSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import {
  attemptingCommand, escapesOf, KEY_TEXT, runAttempts, startForbiddenPlaces,
} from '../../support/isolation/isolation-runs.ts'
import { SAMPLE, serve } from '../../support/sources/audio-server.ts'
import { createClient, logIn } from '../../support/service/client.ts'
import { containerCommand, CRUN } from '../../support/isolation/container.ts'
import { launch } from '../../support/service/launch.ts'
import { ADMIN, prefixed } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const USER = 65_534
const MAIN = join(import.meta.dirname, '..', '..', '..', 'interfaces', 'main.ts')
const hasCrun = spawnSync(CRUN, ['--version'], { stdio: 'ignore' }).status === 0
const asRoot = process.getuid?.() === 0 && hasCrun ? test.serial : test.serial.skip

asRoot('an unprivileged service in a read-only container pulls a source', async (t) => {
  const { path: data, remove } = await temporaryDirectory()
  t.teardown(remove)
  chownSync(data, USER, USER)
  const source = await serve(t, (_request, response) => response.end(readFileSync(SAMPLE)))
  const env = prefixed({
    HOST: '127.0.0.1', PORT: '0', DATA_DIR: data, ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password,
    VRAM_MB: '100000', AUDIO_URL_ALLOW_CIDRS: '127.0.0.1/32', SOURCE_ISOLATION: 'required', DRAIN_TIMEOUT: '0',
  })
  const service = launch(t, {}, await containerCommand(t, { command: [process.execPath, MAIN], env, user: USER, data }))
  const url = await service.url()
  t.is(statSync(join(data, 'master.key')).uid, USER)
  const client = await logIn(url, ADMIN.username, ADMIN.password)
  const request = { audio_format: 'hls', audio_url: source.url('sample.flac'), auto_start: true, live_retention: true }
  const live = await client.createLive(request)
  await client.untilStatus(live, 'finished')
  t.regex(
    (await client.get<string>(`/lives/${live.id}/transcript?format=txt`)).body,
    /\w+ \w+/,
    'the transcript has words',
  )
  t.regex((await createClient(url).get<string>('/metrics')).body, /^stenolog_source_isolation 1$/m)
  t.false(service.stderr().includes('not isolated'))
})

asRoot('a decoder in a read-only container can open no file and no socket', async (t) => {
  const user = { uid: USER, gid: USER }
  const { places, directory, contacts } = await startForbiddenPlaces(t, user)
  // The first process of a container cannot end itself by a signal, so a shell comes first and starts the command.
  const shell = ['/bin/sh', '-c', '"$0" "$@"; exit']
  const within = (command: ReadonlyArray<string>) =>
    containerCommand(t, { command: [...shell, ...command], env: {}, user: USER, data: directory })
  t.deepEqual(escapesOf(await runAttempts(await within(attemptingCommand(true, places)), {})), [])
  t.is(contacts(), 0)
  const { outcomes } = await runAttempts(await within(attemptingCommand(false, places)), {})
  t.is(outcomes['FFmpeg reads the key'], `done: ${KEY_TEXT}`, 'without isolation the decoder reads the file')
  t.true(contacts() >= 2)
})
