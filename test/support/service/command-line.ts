import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { CHILD_ENVIRONMENT } from '../tools/child-environment.ts'
import { prefixed } from './service.ts'

const MAIN = join(import.meta.dirname, '..', '..', '..', 'interfaces', 'cli', 'main.ts')

export interface CommandRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs `stenolog ARGS` in a separate process on a data directory. `settings`: without the prefix STENOLOG_. `others`:
 * further environment variables.
 */
export const stenolog = (
  dataDirectory: string,
  args: ReadonlyArray<string>,
  settings: Readonly<Record<string, string>> = {},
  others: Readonly<Record<string, string>> = {},
): Promise<CommandRun> =>
  new Promise((resolve) => {
    const env = { ...CHILD_ENVIRONMENT, ...prefixed({ DATA_DIR: dataDirectory, ...settings }), ...others }
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
