import test from 'ava'
import { assertNothingLeaks } from './crash-property.ts'

test('whatever step a process dies at, no memory leaks or is given twice, and a command makes one live [R57 R60 R104 D53]', async (t) => {
  await assertNothingLeaks(t, Number(process.env['STENOLOG_TEST_CRASH_RUNS'] ?? 25))
})
