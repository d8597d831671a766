import test from 'ava'
import { assertOneWorkerATerm } from '../../simulation/workers/worker-property.ts'

test('10,000 schedules of three workers that freeze, die and are taken for dead: one writes in a term, nothing stands behind its fence', async (t) => {
  t.timeout(1_800_000)
  await assertOneWorkerATerm(t, Number(process.env['STENOLOG_TEST_SCHEDULES'] ?? 10_000))
})
