import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const SCALE = Number(process.env['STENOLOG_TEST_CHANGES'] ?? 1)
const KINDS = [{ kind: 'profiles', changes: 50_000 }, { kind: 'live', changes: 20_000 }]

for (const { kind, changes } of KINDS)
  test(`after ${changes} changes of ${kind} a command costs at most 1.5 times a first command`, async (t) => {
    t.timeout(1_800_000)
    const { path, remove } = await temporaryDirectory()
    t.teardown(remove)
    const script = join(import.meta.dirname, 'long-streams-process.ts')
    const args = ['--max-old-space-size=512', script, path, kind, String(changes * SCALE)]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    t.log(stdout.trim())
    const { long, first, restartedLong, restartedShort } = JSON.parse(stdout) as Record<string, number>
    t.true(Number(long) <= 1.5 * Number(first), 'in a running process')
    t.true(Number(restartedLong) <= 1.5 * Number(restartedShort), 'right after a restart, whatever the length')
  })
