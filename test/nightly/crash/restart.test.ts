import test from 'ava'
import { killRounds } from '../../support/load/kill-rounds.ts'

// STENOLOG_TEST_STORES=servers runs this test on EventStoreDB and MongoDB instead of the embedded stores.
const KILLS = Number(process.env['STENOLOG_TEST_KILLS'] ?? 200)

test(`${KILLS} kill -9 under load lose no acknowledged write and leak no memory`, async (t) => {
  t.timeout(KILLS * 60_000)
  await killRounds(t, KILLS, { check: true })
})
