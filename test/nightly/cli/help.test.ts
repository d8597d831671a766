import { execFile } from 'node:child_process'
import test from 'ava'
import { CHILD_ENVIRONMENT } from '../../support/tools/child-environment.ts'

interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const stenolog = (...args: ReadonlyArray<string>): Promise<CommandResult> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      ['interfaces/cli/main.ts', ...args],
      { env: CHILD_ENVIRONMENT },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
      },
    )
  })

test('--help lists every command, each command has help, and a typo gets a hint', async (t) => {
  t.timeout(600_000)
  const usage = await stenolog('--help')
  t.is(usage.code, 0)
  const commands = [...usage.stdout.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].flatMap(([, name]) =>
    name === undefined ? [] : [name],
  )
  t.true(
    ['serve', 'users', 'lives', 'tokens', 'demo', 'transcribe'].every((name) => commands.includes(name)),
    usage.stdout,
  )
  const helps = await Promise.all(commands.map((name) => stenolog(name, '--help')))
  for (const [index, { code, stdout, stderr }] of helps.entries()) {
    t.is(code, 0, commands[index])
    t.true(stdout.startsWith(`stenolog ${commands[index]}: `), stdout)
    t.is(stderr, '')
  }
  const unknown = await stenolog('transcrbe')
  t.deepEqual([unknown.code, unknown.stdout], [2, ''])
  t.regex(unknown.stderr, /^error: Unknown command "transcrbe"\. Did you mean transcribe\?\nhint: .*--help$/m)
})
