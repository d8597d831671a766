import test from 'ava'
import { assertOneWorkerATerm } from './worker-property.ts'

test('of three failing workers one writes in a term, and nothing follows its fence', async (t) => {
  await assertOneWorkerATerm(t, Number(process.env['STENOLOG_TEST_SCHEDULES'] ?? 50))
})
