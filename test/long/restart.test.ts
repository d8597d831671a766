import test from 'ava'
import { killRounds } from '../support/kill-rounds.ts'

test('F1, R104, D53: thirty kill -9 under load lose nothing acknowledged and leak no VRAM', async (t) => {
  t.timeout(15 * 60_000)
  await killRounds(t, 30)
})
