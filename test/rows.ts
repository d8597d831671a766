/**
 * `npm run rows`: which rows of the interface's requirements have a passing test that is named after them. It runs those tests:
 * for R1–R127 such as talk to the whole service over HTTP (test/service and, for rows that have none there, test/long), for the
 * rows of the WebSocket also test/ws, whose sockets are real. A row counts when one of its tests passed and none failed; a test
 * that was skipped proves nothing. See docs/decisions/0023-rows-and-mutants.md.
 */
import { globSync, readFileSync } from 'node:fs'
import { rowsOf } from './support/rows.ts'
import { runAva } from './support/tap.ts'

const GROUPS = [
  { name: 'R1–R127', first: 1, last: 127, folders: ['service', 'long'] },
  { name: 'R128–R159', first: 128, last: 159, folders: ['service', 'ws', 'long'] },
] as const
type Group = (typeof GROUPS)[number]

const passed = new Map<string, Set<number>>()
const failed = new Set<number>()

/** The rows that the titles of a file name. */
const rowsIn = (path: string): ReadonlyArray<number> =>
  [...readFileSync(path, 'utf8').matchAll(/\(\s*(['"`])([^\n]*?)\1/g)].flatMap(([, , title = '']) => rowsOf(title))

const missingOf = ({ first, last, folders }: Group): ReadonlyArray<number> =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n).filter(
    (row) => failed.has(row) || !folders.some((folder) => passed.get(folder)?.has(row)),
  )

/** Runs the files of a folder that name one of the rows. */
const run = async (folder: string, wanted: ReadonlyArray<number>): Promise<void> => {
  const files = globSync(`test/${folder}/**/*.test.ts`).filter((path) => rowsIn(path).some((row) => wanted.includes(row))).toSorted()
  if (files.length === 0) return
  const own = new Set<number>()
  passed.set(folder, own)
  const ava = runAva(['--timeout', '10m', ...files])
  let step = await ava.next()
  for (; step.done !== true; step = await ava.next()) {
    const { line, result } = step.value
    if (result?.outcome === 'failed') console.log(line)
    for (const row of rowsOf(result?.title ?? '')) {
      if (result?.outcome === 'failed') failed.add(row)
      if (result?.outcome === 'passed') own.add(row)
    }
  }
  if (step.value !== 0) console.log(`test/${folder}: ava ended with ${step.value}; rows of which it told nothing are missing`)
}

const [rest, socket] = GROUPS
await run('service', [...missingOf(rest), ...missingOf(socket)])
await run('ws', missingOf(socket))
// What takes long is asked for what is still missing alone.
await run('long', [...missingOf(rest), ...missingOf(socket)])

let shown = 0
for (const group of GROUPS) {
  const missing = missingOf(group)
  const total = group.last - group.first + 1
  shown += total - missing.length
  console.log(`${group.name}: ${total - missing.length} of ${total}`)
  if (missing.length > 0) console.log(`  missing: ${missing.map((row) => `R${row}`).join(' ')}`)
  if (missing.length > 0) process.exitCode = 1
}
console.log(`R1–R159: ${shown} of ${socket.last}`)
