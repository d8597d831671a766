import { spawn } from 'node:child_process'

/**
 * The test suite must pass without any network except loopback. On Linux, `unshare` and `ip` run the tests in a
 * network namespace whose only interface is `lo`. The kernel then refuses all other traffic, also of browsers and
 * native code. Users other than root need a user namespace for this, and an inner one to keep their own user id.
 */
const ENTER_AS_ROOT = 'ip link set lo up && exec "$@"'
const ENTER =
  'ip link set lo up && user=$1 && group=$2 && shift 2 && ' +
  'exec unshare --user --map-user="$user" --map-group="$group" -- "$@"'

/** Returns the command line that runs `command` with loopback only. */
export const loopbackOnly = (command: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [user, group] = [process.getuid?.(), process.getgid?.()]
  // Some tests switch from root to another user, which a user namespace does not allow.
  if (user === 0) return ['unshare', '--net', 'sh', '-c', ENTER_AS_ROOT, 'sh', ...command]
  return ['unshare', '--map-root-user', '--net', 'sh', '-c', ENTER, 'sh', String(user), String(group), ...command]
}

/** Exits with 0 when loopback works and a reserved address (TEST-NET-1) has no route. */
const PROBE = `
  const { connect, createServer } = require('node:net')
  const server = createServer().listen(0, '127.0.0.1', () => {
    connect(server.address().port, '127.0.0.1').on('error', () => process.exit(1)).on('connect', () => {
      const probe = connect(80, '192.0.2.1').on('connect', () => process.exit(1))
      probe.on('error', ({ code }) => process.exit(code === 'ENETUNREACH' ? 0 : 1))
    })
  })
`

/**
 * Returns whether commands can run with loopback only. If the environment names a test server, returns false, because
 * the test server would be unreachable.
 */
export const canBeLoopbackOnly = async (): Promise<boolean> => {
  if (process.platform !== 'linux' || Object.keys(process.env).some((name) => /^STENOLOG_TEST_.*_URL$/.test(name)))
    return false
  const [command = '', ...args] = loopbackOnly([process.execPath, '--eval', PROBE])
  return new Promise((resolve) => {
    spawn(command, args, { stdio: 'ignore' })
      .once('error', () => resolve(false))
      .once('exit', (code) => resolve(code === 0))
  })
}
