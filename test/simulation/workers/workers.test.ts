import test from 'ava'
import { assertOneWorkerATerm } from './worker-property.ts'

test('with three failing workers only one writes in each term, and no lower term writes after its fence', async (t) => {
  await assertOneWorkerATerm(t, Number(process.env['STENOLOG_TEST_SCHEDULES'] ?? 50))
})
