import { globSync, readFileSync } from 'node:fs'
import test from 'ava'
import { EVENTSTORE_FOLDER, EVENTSTORE_NODES } from '../../support/stores/chosen-stores.ts'
import { wrongSkips } from '../../support/running/skipped-on-servers.ts'
import { runAva } from '../../support/running/ava-runner.ts'

/** By a variable of their own, how often or with what; and what was recorded on a server of one node, where there are more. */
const APART = [
  'eventstoredb-drills.test.ts',
  'upgrade.test.ts',
  ...(EVENTSTORE_NODES > 1 ? ['eventstoredb-facts-appends.test.ts'] : []),
]

/**
 * The HTTP and WebSocket suites of the whole service, unchanged, with its data in EventStoreDB and MongoDB: each service of
 * theirs has servers of its own (test/support/stores/stores.ts). One file alone: `STENOLOG_TEST_STORES=servers ava test/e2e/service/…`.
 * Where a real EventStoreDB is at hand it takes the double's place, here and in every suite that is about EventStoreDB.
 */
const ofTheService = globSync('test/e2e/service/*.test.ts').toSorted()
const ofEventStoreDb = globSync('test/{contract,nightly}/**/*.test.ts').toSorted().filter((file) =>
  /support\/(?:service\/eventstoredb(?:\.ts|-server\/)|doubles\/eventstoredb\/facts)/.test(readFileSync(file, 'utf8'))
  && !APART.some((name) => file.endsWith(name)))
const isReal = EVENTSTORE_FOLDER !== undefined
const files = [...ofTheService, ...(isReal ? ofEventStoreDb : [])]
const where = isReal ? `a real EventStoreDB (nodes: ${EVENTSTORE_NODES})` : 'EventStoreDB'

test('the suites are found', (t) => {
  for (const suite of ['rest-lives', 'rest-users', 'websocket-frames', 'websocket-captions'])
    t.true(files.includes(`test/e2e/service/${suite}.test.ts`))
  for (const suite of [
    'nightly/servers/eventstoredb-failures', 'nightly/servers/tools-on-servers', 'contract/eventstoredb-server',
    'nightly/servers/eventstoredb-facts-subscriptions',
  ])
    t.true(ofEventStoreDb.includes(`test/${suite}.test.ts`))
  const startsTheDouble = (file: string): boolean => /doubles\/eventstoredb\/start\.ts/.test(readFileSync(file, 'utf8'))
  const elsewhere = globSync('test/**/*.test.ts').filter((file) => !ofEventStoreDb.includes(file))
  t.deepEqual(elsewhere.filter(startsTheDouble), [])
})

for (const file of files)
  test.serial(`on ${where} and MongoDB: ${file}`, async (t) => {
    t.timeout(60 * 60_000)
    const lines: Array<string> = []
    const outcomes = { passed: 0, failed: 0 }
    const skipped: Array<string> = []
    // Several nodes for each of several services would be too much for a machine.
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
