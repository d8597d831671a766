import test from 'ava'
import { chanceOf } from '../support/seeded.ts'
import { assertNobodyIsLocked } from './stalled-store.ts'

test('on a store that answers late, early or never no session is locked, deaf or doubled, and what is reserved is what is open', async (t) => {
  const { open, made } = await assertNobodyIsLocked(chanceOf(t).random('stall'), Number(process.env['STENOLOG_TEST_SESSIONS'] ?? 500))
  t.log(`${made} lives made, ${open} are open`)
  t.true(open > 0 && open < made)
})
