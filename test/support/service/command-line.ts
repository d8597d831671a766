import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { CHILD_ENVIRONMENT } from '../tools/child-environment.ts'

const MAIN = join(import.meta.dirname, '..', '..', '..', 'interfaces', 'cli', 'main.ts')

export interface CommandRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** `stenolog ARGS` as a process of its own, on a data directory; further `settings` without their prefix. */
export const stenolog = (dataDirectory: string, args: ReadonlyArray<string>, settings: Readonly<Record<string, string>> = {}): Promise<CommandRun> =>
  new Promise((resolve) => {
    const named = Object.fromEntries(Object.entries({ DATA_DIR: dataDirectory, ...settings }).map(([name, value]) => [`STENOLOG_${name}`, value]))
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...CHILD_ENVIRONMENT, ...named } })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
