import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { logIn, type Client } from '../../support/service/client.ts'
import { launch } from '../../support/service/launch.ts'
import { ADMIN, prefixed } from '../../support/service/service.ts'
import { programPath } from '../../support/running/skip-unless.ts'
import { serve } from '../../support/sources/audio-server.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const [UNSHARE, TINI] = [programPath('unshare'), programPath('tini')]
/** Runs a command as process 1 of new namespaces, like a container. */
const AS_FIRST = [UNSHARE, '-Urpf', '--mount-proc', '--kill-child']

const canUnshare = (): boolean => {
  try {
    execFileSync(UNSHARE, ['-Urpf', '--mount-proc', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const onLinux = canUnshare() ? test : test.skip

interface Listed {
  readonly pid: number
  readonly parent: number
  readonly isDefunct: boolean
  readonly command: string
}

const listed = (): ReadonlyArray<Listed> =>
  readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return [{ pid: Number(pid), parent: Number(parent), isDefunct: state === 'Z', command }]
    } catch {
      return []
    }
  })

const below = (all: ReadonlyArray<Listed>, pid: number): ReadonlyArray<Listed> =>
  all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...below(all, child.pid)])

/** Starts a service as process 1, or as the only child of `init`, and a source of silence without an end. */
const startAsFirst = async (t: ExecutionContext, init: ReadonlyArray<string> = []) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const source = await serve(t, (_request, response) => {
    const format = '\x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0'
    const head = Buffer.from(`RIFF\xff\xff\xff\xffWAVEfmt ${format}data\xff\xff\xff\xff`, 'latin1')
    response.writeHead(200, { 'content-type': 'audio/wav' }).write(Buffer.concat([head, Buffer.alloc(32_000)]))
    const more = setInterval(() => response.write(Buffer.alloc(3200)), 100)
    response.once('close', () => clearInterval(more))
  })
  const settings = {
    HOST: '127.0.0.1', PORT: '0', DATA_DIR: path, ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password,
    VRAM_MB: '100000', AUDIO_URL_ALLOW_CIDRS: '127.0.0.1/32', DRAIN_TIMEOUT: '0',
  }
  const service = launch(t, prefixed(settings), [...AS_FIRST, ...init])
  const client = await logIn(await service.url(), ADMIN.username, ADMIN.password)
  const children = (): ReadonlyArray<Listed> => below(listed(), service.pid())
  const running = (script: string): ReadonlyArray<Listed> =>
    children().filter(({ command }) => command.includes(script))
  /** Waits until no puller and no decoder is left, not even as an ended process that nobody has waited for. */
  const noneIsLeft = () =>
    eventually(() => {
      const left = children().filter(({ command, isDefunct }) => isDefunct || !/engine-process|main\.ts/.test(command))
      assert.deepEqual(left, [])
    }, { timeoutMs: 30_000 })
  const pulled = async (count: number) => {
    const url = source.url('radio')
    const create = () => client.createLive({ audio_format: 'hls', audio_url: url, auto_start: true })
    const lives = await Promise.all(Array.from({ length: count }, create))
    await eventually(() => assert.equal(running('decoder-process').length, count))
    return lives
  }
  return { service, client, children, running, noneIsLeft, pulled }
}

const endAll = (client: Client, lives: ReadonlyArray<{ readonly id: number }>) =>
  Promise.all(lives.map(({ id }) => client.put(`/lives/${id}/finish`)))

onLinux('as the first process of a container the service leaves no process of a stopped session', async (t) => {
  const { service, client, children, noneIsLeft, pulled } = await startAsFirst(t)
  for (const round of [1, 2]) {
    const lives = await pulled(4)
    t.true(children().some(({ command }) => command.includes('engine-process')), `round ${round} has an engine`)
    await endAll(client, lives)
    await t.notThrowsAsync(noneIsLeft(), `round ${round}`)
  }
  const [first] = children()
  process.kill(first?.pid ?? 0, 'SIGTERM')
  t.is(await service.exited, 0)
})

const withTini = existsSync(TINI) ? onLinux : test.skip

withTini('under tini not even a killed puller leaves a process', async (t) => {
  const { client, running, noneIsLeft, pulled } = await startAsFirst(t, [TINI, '--'])
  const lives = await pulled(2)
  for (const { pid } of running('puller-process')) process.kill(pid, 'SIGKILL')
  await endAll(client, lives)
  await t.notThrowsAsync(noneIsLeft())
})
