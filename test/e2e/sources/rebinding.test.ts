import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { canBeLoopbackOnly } from '../../loopback-only.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const run = promisify(execFile)
const withNetwork = (await canBeLoopbackOnly()) ? test : test.skip

/**
 * Delivers two public addresses to the namespace itself. They are routes and not addresses of an interface, so they
 * do not count as the machine's own. The system's resolver asks the test's DNS server.
 */
const SET_UP = [
  'ip link set lo up',
  'ip route add local 93.184.216.34/32 dev lo',
  'ip -6 route add local 2606:2800:220:1::7/128 dev lo',
  'mount --bind "$1" /etc/resolv.conf',
  'shift',
  'exec "$@"',
].join(' && ')

type Outcomes = Readonly<Record<string, readonly [code: string, answered: number, contacts: number]>>

const probe = async (t: ExecutionContext, ...args: ReadonlyArray<string>): Promise<Outcomes> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const resolver = join(path, 'resolv.conf')
  await writeFile(resolver, 'nameserver 127.0.0.1\noptions timeout:5 attempts:2\n')
  const command = [process.execPath, 'test/support/isolation/rebinding-probe.ts', ...args]
  const { stdout } = await run('unshare', ['--map-root-user', '--net', '--mount', 'sh', '-c', SET_UP, 'sh', resolver,
    ...command])
  return JSON.parse(stdout) as Outcomes
}

withNetwork(
  'a name that changes its address, or has a second one, leads no source and no download to this machine',
  async (t) => {
    t.timeout(120_000)
    const guarded = await probe(t)
    const contacted = Object.entries(guarded).filter(([, [, , contacts]]) => contacts > 0)
    t.deepEqual(contacted, [])
    const publicOnly = ['http://file.after-1.example/a.ts', 'http://all.after-9.example/master.m3u8']
    for (const [name, [code]] of Object.entries(guarded))
      if (publicOnly.includes(name)) t.is(code, 'complete', name)
      else if (name === 'hub') t.regex(code, /cannot be reached/)
      else if (name === 'hub, again') t.regex(code, /no public address/)
      else t.is(code, 'address_forbidden', name)
    t.is(guarded['http://second-segment.after-3.example/master.m3u8']?.[1], 3, 'the answers before the change count')

    const allowed = await probe(t, '127.0.0.0/8,::1/128,::ffff:0:0/96', 'mirror')
    const missed = Object.entries(allowed).filter(([, [, , contacts]]) => contacts === 0).map(([name]) => name)
    t.deepEqual(missed, [...publicOnly, 'hub'], 'without the guard every changed address is contacted')
  },
)
