import test from 'ava'
import { startTestService } from '../support/service.ts'
import { roundsThatRead } from '../support/write-then-read.ts'

test('R15: in 1,000 of 1,000 rounds what was written is what is read next', async (t) => {
  t.timeout(20 * 60_000)
  const service = await startTestService(t)
  t.is(await roundsThatRead(await service.user('impatient'), 1000), 1000)
})
