import { globSync } from 'node:fs'
import test from 'ava'
import { runAva } from '../support/tap.ts'

/**
 * The HTTP and WebSocket suites of the whole service, unchanged, with its data in EventStoreDB and MongoDB: each service of
 * theirs has doubles of its own (test/support/stores.ts). One file alone: `STENOLOG_TEST_STORES=doubles ava test/service/…`.
 */
const files = globSync('test/service/*.test.ts').toSorted()

test('the suites are found', (t) => {
  for (const suite of ['rest-lives', 'rest-users', 'websocket-frames', 'websocket-captions']) t.true(files.includes(`test/service/${suite}.test.ts`))
})

for (const file of files)
  test.serial(`on EventStoreDB and MongoDB: ${file}`, async (t) => {
    t.timeout(20 * 60_000)
    const lines: Array<string> = []
    const outcomes = { passed: 0, failed: 0, skipped: 0 }
    const run = runAva(['--timeout', '10m', file], { wrap: (command) => ['env', 'STENOLOG_TEST_STORES=doubles', ...command] })
    let step = await run.next()
    for (; step.done !== true; step = await run.next()) {
      const { line, result } = step.value
      if (result?.outcome !== 'passed') lines.push(line)
      if (result !== undefined) outcomes[result.outcome] += 1
    }
    t.is(step.value, 0, lines.join('\n'))
    t.is(outcomes.failed, 0)
    t.true(outcomes.passed > 0 || outcomes.skipped > 0)
    t.log(`${outcomes.passed} passed, ${outcomes.skipped} skipped`)
  })
