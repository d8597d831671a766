import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { canBeLoopbackOnly } from '../../loopback-only.ts'

const run = promisify(execFile)
const withNetwork = (await canBeLoopbackOnly()) ? test : test.skip

const SET_UP =
  'ip link set lo up && ip addr add 8.8.4.4/24 dev lo && ip -6 addr add 2600:1f18::5/64 dev lo nodad && exec "$@"'

interface Outcome {
  readonly outcomes: ReadonlyArray<readonly [url: string, code: string, contacts: number]>
  readonly ssh: boolean
}

/** Pulls sources in a network namespace whose loopback interface has public addresses, and returns the outcomes. */
const probe = async (...args: ReadonlyArray<string>): Promise<Outcome> => {
  const command = [process.execPath, 'test/support/isolation/own-network-probe.ts', ...args]
  const { stdout } = await run('unshare', ['--map-root-user', '--net', 'sh', '-c', SET_UP, 'sh', ...command])
  return JSON.parse(stdout) as Outcome
}

withNetwork('a machine with a public address pulls from itself and its neighbours only with permission', async (t) => {
  const refused = await probe('8.8.4.4,8.8.4.9,[2600:1f18::5]')
  t.is(refused.outcomes.length, 9)
  t.deepEqual(refused.outcomes.filter(([, code, contacts]) => code !== 'address_forbidden' || contacts !== 0), [])
  t.false(refused.ssh)
  const allowed = await probe('8.8.4.4,[2600:1f18::5]', '8.8.4.0/24,2600:1f18::/64')
  t.deepEqual(allowed.outcomes.filter(([, code, contacts]) => code === 'address_forbidden' || contacts === 0), [])
  t.true(allowed.ssh)
})
