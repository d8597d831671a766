/**
 * Applies every mutant of test/nightly/mutants, one after the other, to a copy of the working tree.
 * A regular expression selects mutants by product file or test file:
 * `STENOLOG_TEST_MUTANTS='sqlite|mongodb' npx ava test/nightly/mutants/mutants.test.ts`.
 */
import test from 'ava'
import { MUTANTS } from './all.ts'
import { createLocator, readProduct, testFiles } from './locate.ts'
import { copyWorkingTree, verdictOf } from '../../support/running/broken-copy.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'

/** Some mutants fail only rare schedules, so the simulations run more schedules than in `npm test`. */
process.env['STENOLOG_TEST_SCHEDULES'] ??= '1000'

const product = readProduct()
const locate = createLocator(product)
const wanted = new RegExp(process.env['STENOLOG_TEST_MUTANTS'] ?? '')
const mutants = MUTANTS.map((mutant) => {
  const { path, start } = orThrow(locate(mutant))
  const whole = product.get(path) ?? ''
  const source = whole.slice(0, start) + mutant.after + whole.slice(start + mutant.before.length)
  return { ...mutant, path, source, test: testFiles(mutant.test)[0] ?? mutant.test }
}).filter(({ path, test: tests }) => wanted.test(path) || wanted.test(tests))

const copy = await copyWorkingTree()
test.after.always(() => copy.remove())

const LIMIT_MS = 20 * 60_000
const files = [...new Set(mutants.map((mutant) => mutant.test))].toSorted()

for (const file of files)
  test.serial(`${file} passes without a mutant`, async (t) => {
    t.timeout(LIMIT_MS)
    const titles = mutants.filter((mutant) => mutant.test === file).flatMap((mutant) => mutant.titles)
    const { results, output } = await copy.run(file, titles)
    t.deepEqual(results.filter(({ outcome }) => outcome !== 'passed'), [], output.join('\n'))
    t.deepEqual(titles.filter((part) => !results.some(({ title }) => title.includes(part))), [])
  })

for (const [index, mutant] of mutants.entries()) {
  const { in: name, path, before, after, titles } = mutant
  const names = titles.map((title) => `“${title}”`).join(' or ')
  const change = `${before.trim()} → ${after.trim()}`.replaceAll(/\s+/g, ' ')
  test.serial(`mutant ${index + 1} of ${mutants.length} in ${name} (${path}) fails ${names}: ${change}`, async (t) => {
    t.timeout(LIMIT_MS)
    const run = await copy.runBroken(mutant)
    t.is(verdictOf(run), 'caught', run.output.join('\n'))
    for (const { title, outcome } of run.results) if (outcome === 'failed') t.log(`failed: ${title}`)
  })
}
