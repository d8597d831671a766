import test from 'ava'
import { assertNothingLeaks } from '../application/crash-property.ts'

test('D53: 60,000 creates through processes that die at any step (R57, R60, R104)', async (t) => {
  t.timeout(600_000)
  await assertNothingLeaks(t, Number(process.env['STENOLOG_TEST_CRASH_RUNS'] ?? 1000))
})
