import { spawn } from 'node:child_process'

/**
 * B39: the suite passes with all but loopback traffic refused. Where Linux lets us (unshare of util-linux, ip of iproute2),
 * commands run in a network namespace of their own that has no interface but `lo`, so the kernel refuses the rest for every
 * process, browsers and native code included. Root needs no more; others need a user namespace for it, and an inner one
 * gives them their own id back.
 */
const ENTER_AS_ROOT = 'ip link set lo up && exec "$@"'
const ENTER =
  'ip link set lo up && user=$1 && group=$2 && shift 2 && exec unshare --user --map-user="$user" --map-group="$group" -- "$@"'

/** `command` as it is spawned to see loopback alone. */
export const loopbackOnly = (command: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [user, group] = [process.getuid?.(), process.getgid?.()]
  // In a user namespace root could become nobody else, which some tests do.
  if (user === 0) return ['unshare', '--net', 'sh', '-c', ENTER_AS_ROOT, 'sh', ...command]
  return ['unshare', '--map-root-user', '--net', 'sh', '-c', ENTER, 'sh', String(user), String(group), ...command]
}

/** Ends well when loopback answers and an address of nobody (TEST-NET-1) has no route. */
const LOOK = `
  const { connect, createServer } = require('node:net')
  const server = createServer().listen(0, '127.0.0.1', () => {
    connect(server.address().port, '127.0.0.1').on('error', () => process.exit(1)).on('connect', () => {
      connect(80, '192.0.2.1').on('connect', () => process.exit(1)).on('error', ({ code }) => process.exit(code === 'ENETUNREACH' ? 0 : 1))
    })
  })
`

/** Can commands be run so? Servers that the environment names for the tests would not be there. */
export const canBeLoopbackOnly = async (): Promise<boolean> => {
  if (process.platform !== 'linux' || Object.keys(process.env).some((name) => /^STENOLOG_TEST_.*_URL$/.test(name)))
    return false
  const [command = '', ...args] = loopbackOnly([process.execPath, '--eval', LOOK])
  return new Promise((resolve) => {
    spawn(command, args, { stdio: 'ignore' })
      .once('error', () => resolve(false))
      .once('exit', (code) => resolve(code === 0))
  })
}
