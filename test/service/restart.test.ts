import test from 'ava'
import { killRounds } from '../support/kill-rounds.ts'

test('F1, R104, D53: three kill -9 under load lose nothing acknowledged and leak no VRAM', (t) => killRounds(t, 3))
