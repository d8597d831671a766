import { spawn, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { pullerCommand } from '../../../infrastructure/sources/child-commands.ts'
import { tryDecoder } from '../../../infrastructure/sources/source-isolation.ts'
import {
  attemptingCommand, escapesOf, isPermissionFlag, KEY_TEXT, runAttempts, startForbiddenPlaces, type User,
} from '../../support/isolation/isolation-runs.ts'

/** An unprivileged user in the group that can read the checkout. */
const PLAIN_USER = { uid: 65_534, gid: statSync('.').gid }

const onLinux = process.platform === 'linux' ? test : test.skip
/** False when node is in a directory that only root can enter, such as a directory of `mktemp -d`. */
const canPlainUserRunNode = (): boolean => spawnSync('test', ['-x', process.execPath], PLAIN_USER).status === 0
const asRoot = process.getuid?.() === 0 && canPlainUserRunNode() ? onLinux : test.skip

const users: ReadonlyArray<readonly [string, User, typeof onLinux]> = [
  ['the user who runs this test', {}, onLinux],
  ['a plain user', PLAIN_USER, asRoot],
]

for (const [name, user, testAs] of users)
  testAs(`a decoder of ${name} can open no file or socket, start no process and send no signal`, async (t) => {
    const { places, contacts } = await startForbiddenPlaces(t, user)
    t.deepEqual(escapesOf(await runAttempts(attemptingCommand(true, places), user)), [])
    t.is(contacts(), 0)

    const { outcomes } = await runAttempts(attemptingCommand(false, places), user)
    const failed = Object.entries(outcomes).filter(([, outcome]) => outcome.startsWith('failed'))
    t.deepEqual(failed, [], 'without isolation every attempt succeeds')
    t.is(outcomes['FFmpeg reads the key'], `done: ${KEY_TEXT}`)
    t.true(contacts() >= 2)
  })

test('the process that holds the sockets of a source reads no file of the service', async (t) => {
  const { file } = await startForbiddenPlaces(t, {})
  const attempt = `import { readFileSync } from 'node:fs'
    const write = (text) => process.stderr.write(text)
    try { write('read ' + readFileSync(${JSON.stringify(file)}, 'latin1')) } catch (error) { write(error.code) }
    process.kill(process.pid, 'SIGKILL')`
  const { file: command, args } = pullerCommand()
  const index = args.findIndex((word) => word.endsWith('puller-process.ts'))
  const words = args.toSpliced(index, 0, '--import', `data:text/javascript,${encodeURIComponent(attempt)}`)
  const errorOutput = async (args: ReadonlyArray<string>): Promise<string> =>
    text(spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: {}, cwd: '/' }).stderr)
  t.is(await errorOutput(words), 'ERR_ACCESS_DENIED')
  t.is(await errorOutput(words.filter((word) => !isPermissionFlag(word))), `read ${KEY_TEXT}`)
})

onLinux('a decoder that does not answer its start-up test delays nothing', async (t) => {
  t.is(await tryDecoder(), null)
  t.is(await tryDecoder(1), 'an isolated decoder did not decode within 1 ms')
})
