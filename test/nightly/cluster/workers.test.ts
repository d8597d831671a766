import test from 'ava'
import { assertOneWorkerPerTerm } from '../../simulation/workers/worker-property.ts'

test('10,000 random schedules of three workers: one writer per term, and no write after its fence', async (t) => {
  t.timeout(1_800_000)
  await assertOneWorkerPerTerm(t, Number(process.env['STENOLOG_TEST_SCHEDULES'] ?? 10_000))
})
