import test from 'ava'
import { assertNothingLeaks } from './crash-property.ts'

test('after a crash at any step no memory leaks, and a command creates one session', async (t) => {
  await assertNothingLeaks(t, Number(process.env['STENOLOG_TEST_CRASH_RUNS'] ?? 25))
})
