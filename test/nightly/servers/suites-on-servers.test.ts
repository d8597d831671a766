import { globSync, readFileSync } from 'node:fs'
import test from 'ava'
import { EVENTSTORE_FOLDER, EVENTSTORE_NODES } from '../../support/stores/chosen-stores.ts'
import { wrongSkips } from '../../support/running/skipped-on-servers.ts'
import { runAva } from '../../support/running/ava-runner.ts'

/**
 * Excluded suites: those that another variable enables, with several nodes the suite of recordings of one node, and
 * with fewer than three nodes the suite that needs elections of three nodes.
 */
const EXCLUDED = [
  'eventstoredb-drills.test.ts',
  'upgrade.test.ts',
  ...(EVENTSTORE_NODES > 1 ? ['eventstoredb-facts-appends.test.ts'] : []),
  ...(EVENTSTORE_NODES < 3 ? ['sessions-in-elections.test.ts'] : []),
]

/**
 * Runs the suites of the whole service with their data in EventStoreDB and MongoDB; every service gets its own servers.
 * One file: `STENOLOG_TEST_STORES=servers npx ava test/e2e/service/FOLDER/FILE`.
 * STENOLOG_TEST_EVENTSTORE_BIN replaces the double with a real EventStoreDB and adds all suites about EventStoreDB.
 */
const serviceSuites = globSync('test/e2e/service/**/*.test.ts').toSorted()
const eventStoreSuites = globSync('test/{contract,nightly}/**/*.test.ts').toSorted().filter((file) =>
  /support\/stores\/eventstoredb(?:\.ts|-clients\.ts|-server\/)/.test(readFileSync(file, 'utf8'))
  && !EXCLUDED.some((name) => file.endsWith(name)))
const isReal = EVENTSTORE_FOLDER !== undefined
const files = [...serviceSuites, ...(isReal ? eventStoreSuites : [])]
const eventStore = isReal ? `a real EventStoreDB (nodes: ${EVENTSTORE_NODES})` : 'EventStoreDB'

test('the lists of suites contain known suites', (t) => {
  for (const suite of ['sessions/lives', 'accounts/users', 'sockets/frames', 'sockets/captions'])
    t.true(files.includes(`test/e2e/service/${suite}.test.ts`))
  for (const suite of [
    'nightly/servers/eventstoredb-failures', 'nightly/servers/commands-on-servers', 'contract/eventstoredb-server',
    'nightly/servers/eventstoredb-facts-subscriptions',
  ])
    t.true(eventStoreSuites.includes(`test/${suite}.test.ts`))
  const startsTheDouble = (file: string): boolean => /doubles\/eventstoredb\/start\.ts/.test(readFileSync(file, 'utf8'))
  const otherSuites = globSync('test/**/*.test.ts').filter((file) => !eventStoreSuites.includes(file))
  t.deepEqual(otherSuites.filter(startsTheDouble), [])
})

for (const file of files)
  test.serial(`on ${eventStore} and MongoDB: ${file}`, async (t) => {
    t.timeout(60 * 60_000)
    const lines: Array<string> = []
    const outcomes = { passed: 0, failed: 0 }
    const skipped: Array<string> = []
    // The tests of a file run serially, because several nodes for each of several services overload a machine.
    const args = ['--timeout', '10m', ...(EVENTSTORE_NODES > 1 ? ['--serial'] : []), file]
    const run = runAva(args, { wrap: (command) => ['env', 'STENOLOG_TEST_STORES=servers', ...command] })
    let step = await run.next()
    for (; step.done !== true; step = await run.next()) {
      const { line, result } = step.value
      if (result?.outcome !== 'passed') lines.push(line)
      if (result?.outcome === 'skipped') skipped.push(result.title)
      else if (result !== undefined) outcomes[result.outcome] += 1
    }
    t.is(step.value, 0, lines.join('\n'))
    t.is(outcomes.failed, 0)
    t.deepEqual(wrongSkips(file, skipped), [])
    t.true(outcomes.passed > 0 || skipped.length > 0)
    t.log(`${outcomes.passed} passed, ${skipped.length} skipped`)
  })
