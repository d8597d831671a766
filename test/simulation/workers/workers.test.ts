import test from 'ava'
import { assertOneWorkerPerTerm } from './worker-property.ts'

test('with three failing workers only one worker writes in each term, and a fence refuses lower terms', async (t) => {
  await assertOneWorkerPerTerm(t, Number(process.env['STENOLOG_TEST_SCHEDULES'] ?? 50))
})
