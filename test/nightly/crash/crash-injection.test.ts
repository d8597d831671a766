import test from 'ava'
import { assertNothingLeaks } from '../../simulation/crashes/crash-property.ts'

test('60,000 creates by processes that die at any step leak nothing', async (t) => {
  t.timeout(600_000)
  await assertNothingLeaks(t, Number(process.env['STENOLOG_TEST_CRASH_RUNS'] ?? 1000))
})
