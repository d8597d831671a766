import test from 'ava'
import { killRounds } from '../../support/load/kill-rounds.ts'

// On servers with STENOLOG_TEST_STORES=servers, of which EventStoreDB may be a real one.
const KILLS = Number(process.env['STENOLOG_TEST_KILLS'] ?? 200)

test(`${KILLS} kill -9 with all commands in flight lose nothing acknowledged, leak no VRAM, and leave what the check finds clean [F1 R104 D53]`, async (t) => {
  t.timeout(KILLS * 60_000)
  await killRounds(t, KILLS, { check: true })
})
