import test from 'ava'
import { assertOneWorkerATerm } from './worker-property.ts'

test('three workers that freeze, die and are taken for dead: one writes in a term, nothing stands behind its fence, all is given back', async (t) => {
  await assertOneWorkerATerm(t, Number(process.env['STENOLOG_TEST_SCHEDULES'] ?? 50))
})
