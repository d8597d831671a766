import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, readlinkSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { CHILD_ENVIRONMENT } from '../../support/tools/child-environment.ts'
import { serve } from '../../support/sources/audio-server.ts'
import { createClient, logIn, type Client, type LiveJson, type Single } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { launch } from '../../support/service/launch.ts'
import { processGroupOf } from '../../support/tools/processes.ts'
import { ADMIN, prefixed } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const onLinux = process.platform === 'linux' ? test : test.skip
const ROOT = join(import.meta.dirname, '..', '..', '..')
/** Command prefix: the started command gets no new seccomp filter from the kernel. */
const WITHOUT_SECCOMP = [process.execPath, join(ROOT, 'test', 'support', 'isolation', 'deny-seccomp.ts')]
/** Command prefix: the started command inherits an open file. Node closes only the first 16 inherited descriptors. */
const WITH_OPEN_FILE = ['/bin/bash', '-c', 'exec 40</etc/hostname; exec "$@"', 'bash']
const WARNING = 'decoders of URL sources are not isolated'

type Settings = Readonly<Record<string, string>>
type CommandPrefix = ReadonlyArray<string>

/** Serves a WAV source that never ends: it sends one second of silence at once, then 100 ms every 100 ms. */
const serveEndless = (t: ExecutionContext) =>
  serve(t, (_request, response) => {
    const format = '\x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0'
    const head = Buffer.from(`RIFF\xff\xff\xff\xffWAVEfmt ${format}data\xff\xff\xff\xff`, 'latin1')
    response.writeHead(200, { 'content-type': 'audio/wav' }).write(Buffer.concat([head, Buffer.alloc(32_000)]))
    const more = setInterval(() => response.write(Buffer.alloc(3200)), 100)
    response.once('close', () => clearInterval(more))
  })

/** Starts a service on a data directory. The names of the settings have no prefix `STENOLOG_`. */
const startHere = async (t: ExecutionContext, directory: string, settings: Settings, through: CommandPrefix = []) => {
  const environment = {
    HOST: '127.0.0.1', PORT: '0', DATA_DIR: directory, ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password,
    VRAM_MB: '100000', AUDIO_URL_ALLOW_CIDRS: '127.0.0.1/32', DRAIN_TIMEOUT: '0', ...settings,
  }
  const service = launch(t, prefixed(environment), through)
  const url = await service.url()
  return { service, client: await logIn(url, ADMIN.username, ADMIN.password) }
}

const isolationMetric = async (client: Client): Promise<string | undefined> => {
  const { body } = await createClient(client.url).get<string>('/metrics')
  return /^stenolog_source_isolation (\d)$/m.exec(body)?.[1]
}

const createPulled = (client: Client, url: string): Promise<LiveJson> =>
  client.createLive({ audio_format: 'hls', audio_url: url, auto_start: true })

/** Reads a number from the status that the kernel reports for a process or thread. */
const statusOf = (processPath: number | string, name: string): string | undefined =>
  new RegExp(`^${name}:\\s+(\\d+)$`, 'm').exec(readFileSync(`/proc/${processPath}/status`, 'utf8'))?.[1]

/** Counts the seccomp filters of a process (its forbidden system calls), without the filters of this test. */
const filtersOf = (processPath: number | string): number =>
  Number(statusOf(processPath, 'Seccomp_filters')) - Number(statusOf('self', 'Seccomp_filters'))

/** Waits until the decoder of an active session has this many filters. Returns its process id. */
const decoderOf = (client: Client, live: LiveJson, filters: number): Promise<number> =>
  eventually(async () => {
    const { body } = await client.get<Single<LiveJson>>(`/lives/${live.id}`)
    assert.equal(body.data.status, 'active')
    const group = processGroupOf(Number(body.data['auto_start_pid']))
    const pid = group.find((member) => readFileSync(`/proc/${member}/cmdline`, 'utf8').includes('decoder-process.ts'))
    assert.ok(pid !== undefined)
    assert.equal(filtersOf(pid), filters)
    return pid
  }, { timeoutMs: 60_000 })

/** Runs `stenolog doctor`. Returns its exit code and its check of the decoders. */
const examine = (settings: Settings, through: CommandPrefix = []) =>
  new Promise<{ readonly code: unknown; readonly check: unknown }>((resolve) => {
    const words = [...through, process.execPath, join(ROOT, 'interfaces', 'cli', 'main.ts'), 'doctor', '--json']
    const [command = '', ...args] = words as ReadonlyArray<string>
    const env = { ...CHILD_ENVIRONMENT, ...prefixed({ PORT: '0', DATA_DIR: '/nowhere/data', ...settings }) }
    execFile(command, args, { env }, (error, stdout) => {
      const { checks } = JSON.parse(stdout) as { readonly checks: ReadonlyArray<{ readonly name: string }> }
      resolve({ code: error === null ? 0 : error.code, check: checks.find(({ name }) => name === 'decoders') })
    })
  })

onLinux('the decoder of a URL source holds only its own pipes', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const { service, client } = await startHere(t, path, {}, WITH_OPEN_FILE)
  const source = await serveEndless(t)
  const pid = await decoderOf(client, await createPulled(client, source.url('radio')), 2)

  const descriptors = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
  const harmless = /^(?:pipe|socket):|^anon_inode:\[(?:eventpoll|eventfd)\]$|^\/dev\/null$/
  const strange = descriptors.filter((target) => !harmless.test(target))
  t.deepEqual(strange, [], 'the decoder has no inherited file, and no io_uring, which could open files')
  const sockets = descriptors.filter((target) => target.startsWith('socket:'))
  t.is(sockets.length, 3, 'the only sockets carry input, output and messages')
  t.is(statusOf(pid, 'NoNewPrivs'), '1')
  t.regex(readFileSync(`/proc/${pid}/limits`, 'utf8'), /^Max data size\s+1073741824 /m)
  const threads = readdirSync(`/proc/${pid}/task`)
  t.true(threads.length > 4)
  t.deepEqual(threads.filter((thread) => filtersOf(`${pid}/task/${thread}`) !== 2), [], 'all threads have both filters')

  t.is(await isolationMetric(client), '1')
  t.false(service.stderr().includes(WARNING))
  t.like((await examine({})).check, { ok: true, detail: 'isolated: no access to files or sockets' })
})

onLinux('without isolation the service warns, and pulls URLs unless isolation is required', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const source = await serveEndless(t)
  const first = await startHere(t, path, {}, WITHOUT_SECCOMP)
  t.true(first.service.stderr().includes(WARNING))
  t.regex(first.service.stderr(), /cannot isolate decoders \(seccomp returns -1, errno 1\)/)
  t.is(await isolationMetric(first.client), '0')
  const live = await createPulled(first.client, source.url('radio'))
  await decoderOf(first.client, live, 1)
  const found = await examine({}, WITHOUT_SECCOMP)
  t.is(found.code, 1)
  t.like(found.check, { ok: false })
  first.service.kill('SIGKILL')
  await first.service.exited
  const requestsBefore = source.requests.length

  const second = await startHere(t, path, { SOURCE_ISOLATION: 'required' }, WITHOUT_SECCOMP)
  t.true(second.service.stderr().includes(WARNING))
  t.is(await isolationMetric(second.client), '0')
  await second.client.untilStatus(live, 'error')
  const request = { model: 'demo-en', language: 'en', audio_format: 'hls', audio_url: source.url('radio') }
  const refused = await second.client.post('/lives/', request)
  t.is(refused.status, 422)
  t.regex(JSON.stringify(refused.body), /"audio_url".*STENOLOG_SOURCE_ISOLATION=required is set/)
  t.is(source.requests.length, requestsBefore, 'the source is not contacted')
  t.is((await second.client.createLive()).status, 'pending', 'a session with sent audio needs no decoder')
  t.like((await examine({ SOURCE_ISOLATION: 'required' }, WITHOUT_SECCOMP)).check, { ok: false })
})

onLinux('the start, the doctor and the metric report isolation that is off', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const { service, client } = await startHere(t, path, { SOURCE_ISOLATION: 'off' })
  t.true(service.stderr().includes(WARNING))
  t.regex(service.stderr(), /STENOLOG_SOURCE_ISOLATION is off/)
  t.is(await isolationMetric(client), '0')
  const source = await serveEndless(t)
  await decoderOf(client, await createPulled(client, source.url('radio')), 0)
  const found = await examine({ SOURCE_ISOLATION: 'off' })
  t.is(found.code, 1)
  t.like(found.check, { ok: false })
})
