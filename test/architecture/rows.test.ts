import test from 'ava'
import { namesOne, rowsOf, standingOf } from '../support/rows.ts'
import type { Claim } from '../support/rows.ts'

test('a title names the rows before its first colon, ranges too', (t) => {
  t.deepEqual(rowsOf('R57, R58: what R59 has'), [57, 58])
  t.deepEqual(rowsOf('service › rest › R16 to R18: x'), [16, 17, 18])
  t.deepEqual(rowsOf('R49–R51, D6: x'), [49, 50, 51])
  t.deepEqual(rowsOf('no row at all'), [])
  t.true(namesOne('R5, D58: x', ['D58']) && namesOne('a duty that fails is tried again', ['that fails is']))
  t.false(namesOne('R55: x', [5]) || namesOne('D58: x', ['D5']) || namesOne('a duty', ['a duty that']))
})

const said = (title: string, outcome: Claim['outcome'] = 'passed'): Claim => ({ title, outcome })

test('a row stands as its tests show: a title of many rows is no proof, and only a broken line shows that one would notice', (t) => {
  const alone = [said('R7: x')]
  t.is(standingOf(7, [], [[7]]), 'missing')
  t.is(standingOf(7, [said('R7: x', 'skipped')], [[7]]), 'missing')
  t.is(standingOf(7, [...alone, said('R7, R8: y', 'failed')], [[7]]), 'failed')
  t.is(standingOf(7, [said('R1 to R10: x')], []), 'named in passing')
  t.is(standingOf(7, [said('R1 to R10: x'), ...alone], []), 'claimed')
  t.is(standingOf(7, alone, [[8], ['D58']]), 'claimed')
  t.is(standingOf(7, alone, [[7, 8]]), 'claimed', 'either of the two may have noticed')
  t.is(standingOf(7, alone, [[7]]), 'defended')
})
