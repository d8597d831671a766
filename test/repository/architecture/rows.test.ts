import test from 'ava'
import { namesRow, rowsOf, standingOf } from '../../support/running/rows.ts'
import type { Claim } from '../../support/running/rows.ts'

test('the brackets at the end of a title name its requirements (rows), also as ranges', (t) => {
  t.deepEqual(rowsOf('the rule of R59 [R57 R58]'), [57, 58])
  t.deepEqual(rowsOf('service › rest › x [R16 to R18]'), [16, 17, 18])
  t.deepEqual(rowsOf('x [R49–R51 D6]'), [49, 50, 51])
  t.deepEqual(rowsOf('no row at all'), [])
  t.true(namesRow('x [R5 D58]', ['D58']) && namesRow('a duty that fails is tried again', ['that fails is']))
  t.false(namesRow('x [R55]', [5]) || namesRow('x [D58]', ['D5']) || namesRow('a duty', ['a duty that']))
})

const claimOf = (title: string, outcome: Claim['outcome'] = 'passed'): Claim => ({ title, outcome })

test('the standing of a requirement follows from its tests and mutants', (t) => {
  const ownClaims = [claimOf('x [R7]')]
  t.is(standingOf(7, [], [[7]]), 'missing')
  t.is(standingOf(7, [claimOf('x [R7]', 'skipped')], [[7]]), 'missing')
  t.is(standingOf(7, [...ownClaims, claimOf('y [R7 R8]', 'failed')], [[7]]), 'failed')
  t.is(standingOf(7, [claimOf('x [R1 to R10]')], []), 'named in passing')
  t.is(standingOf(7, [claimOf('x [R1 to R10]'), ...ownClaims], []), 'claimed')
  t.is(standingOf(7, ownClaims, [[8], ['D58']]), 'claimed')
  t.is(standingOf(7, ownClaims, [[7, 8]]), 'claimed', 'a mutant of two rows defends neither')
  t.is(standingOf(7, ownClaims, [[7]]), 'defended')
})
