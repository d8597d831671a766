import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { startDouble } from '../support/eventstoredb-double/start.ts'
import { normalise } from '../support/eventstoredb-double/transcripts/compare.ts'

const TRANSCRIPTS = join(import.meta.dirname, '..', 'support', 'eventstoredb-double', 'transcripts')

const double = await startDouble()
test.after.always(double.dispose)

/** What a script prints when it runs against the double. */
const printed = async (script: string, url: string, ...args: ReadonlyArray<string>): Promise<string> =>
  (await promisify(execFile)(process.execPath, [join(TRANSCRIPTS, `${script}.ts`), url, ...args])).stdout

const recorded = async (name: string): Promise<ReadonlyArray<string>> => normalise(await readFile(join(TRANSCRIPTS, `${name}.txt`), 'utf8'))

for (const [name, cases] of [['t1', ['']], ['t1b', ['47', '48', '49', '50', '51']], ['t3', ['']]] as const)
  test.serial(`the double answers ${name} as server 23.10.6 did`, async (t) => {
    const url = await double.another()
    const parts: string[] = []
    for (const part of cases) parts.push(await printed(name, url, part))
    t.deepEqual(normalise(parts.join('')), await recorded(name))
  })
