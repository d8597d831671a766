import { spawnSync } from 'node:child_process'
import { chownSync, readFileSync, statSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import {
  attemptingCommand, escapesOf, KEY_TEXT, runAttempts, startForbiddenPlaces,
} from '../../support/isolation/isolation-runs.ts'
import { SAMPLE, serve } from '../../support/sources/audio-server.ts'
import { createClient, logIn } from '../../support/service/client.ts'
import { launch } from '../../support/service/launch.ts'
import { ADMIN, prefixed } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const CRUN = '/usr/bin/crun'

/** Folders of the machine that exist in the container too. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc']
const READ_ONLY = ['bind', 'ro', 'nosuid', 'nodev']

/**
 * System calls that Docker's default profile refuses to a process without capabilities: namespaces, mounts, io_uring,
 * keys, descriptors of other processes. The profile allows seccomp and prctl.
 */
const WITHHELD = [
  'unshare', 'setns', 'mount', 'umount2', 'pivot_root', 'move_mount', 'open_tree', 'fsopen', 'fsconfig', 'fsmount',
  'io_uring_setup', 'io_uring_enter',
  'io_uring_register', 'bpf', 'perf_event_open', 'userfaultfd', 'keyctl', 'add_key', 'request_key', 'kcmp',
  'open_by_handle_at', 'fanotify_init',
  'init_module', 'finit_module', 'delete_module', 'reboot', 'swapon', 'swapoff', 'quotactl', 'acct', 'syslog',
  'vhangup', 'settimeofday', 'clock_settime',
]
/** All flags of clone that create a namespace. */
const NAMESPACES = 0x7e020000
const EPERM = 1
const ENOSYS = 38

const seccomp = {
  defaultAction: 'SCMP_ACT_ALLOW',
  syscalls: [
    { names: WITHHELD, action: 'SCMP_ACT_ERRNO', errnoRet: EPERM },
    { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    ...[...NAMESPACES.toString(2)].flatMap((bit, index, bits) => {
      const flag = bit === '1' ? 2 ** (bits.length - 1 - index) : 0
      const args = [{ index: 0, value: flag, valueTwo: flag, op: 'SCMP_CMP_MASKED_EQ' }]
      return flag === 0 ? [] : [{ names: ['clone'], action: 'SCMP_ACT_ERRNO', errnoRet: EPERM, args }]
    }),
  ],
}

interface Container {
  readonly command: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  /** The id of its user and group. */
  readonly user: number
  /** The only writable folder except /tmp. It has the same path in the container. */
  readonly data: string
}

/**
 * Returns a command that runs `command` as the container of docker-compose.yml does: without capabilities and new
 * privileges, on a read-only root file system, as an unprivileged user. The container ends with the command. It uses
 * the network of the machine, because the tests serve their sources there.
 */
const containerCommand = async (t: ExecutionContext, container: Container): Promise<ReadonlyArray<string>> => {
  const { command, env, user, data } = container
  const { path: bundle, remove } = await temporaryDirectory()
  t.teardown(remove)
  const bound = [...SYSTEM, ROOT, realpathSync(join(ROOT, 'node_modules'))]
  const config = {
    ociVersion: '1.0.0',
    process: {
      user: { uid: user, gid: user }, args: command, cwd: '/',
      env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] }, noNewPrivileges: true,
    },
    root: { path: 'rootfs', readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=65536k'] },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777'] },
      ...[...new Set(bound)].map((place) => ({ destination: place, type: 'bind', source: place, options: READ_ONLY })),
      { destination: data, type: 'bind', source: data, options: ['bind', 'rw', 'nosuid', 'nodev'] },
    ],
    linux: { namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })), seccomp },
  }
  mkdirSync(join(bundle, 'rootfs'))
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(config))
  // crun does not support machines with both versions of control groups, so it sees version 2 only.
  const run = `umount -R /sys/fs/cgroup
    mount -t cgroup2 none /sys/fs/cgroup
    exec "$0" --root "$1/state" --cgroup-manager=disabled run --bundle "$1" "$2"`
  const within = ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  return [...within, 'sh', '-c', run, CRUN, bundle, `stenolog-test-${process.pid}-${Date.now()}`]
}

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
