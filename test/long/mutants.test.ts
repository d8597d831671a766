import test from 'ava'
import { MUTANTS } from '../mutants/all.ts'
import { copyWorkingTree } from '../support/broken-copy.ts'
import { namesOne } from '../support/rows.ts'

const copy = await copyWorkingTree()
test.after.always(() => copy.remove())

const LIMIT = 20 * 60_000
const files = [...new Set(MUTANTS.map((mutant) => mutant.test))].toSorted()

for (const file of files)
  test.serial(`unbroken, ${file} is green for every row that a mutant names`, async (t) => {
    t.timeout(LIMIT)
    const rows = MUTANTS.filter((mutant) => mutant.test === file).flatMap((mutant) => mutant.rows)
    const results = await copy.run(file, rows)
    t.deepEqual(results.filter(({ outcome }) => outcome !== 'passed'), [])
    t.deepEqual(rows.filter((row) => !results.some(({ title }) => namesOne(title, [row]))), [])
  })

for (const mutant of MUTANTS) {
  const { file, before, after, rows } = mutant
  const names = rows.map((row) => (typeof row === 'number' ? `R${row}` : row)).join(' or ')
  test.serial(`mutant: ${file} turns ${names} red: ${before.trim()} → ${after.trim()}`, async (t) => {
    t.timeout(LIMIT)
    const results = await copy.runBroken(mutant)
    t.true(results.some(({ outcome }) => outcome === 'failed'), `survived: ${JSON.stringify(results)}`)
  })
}
