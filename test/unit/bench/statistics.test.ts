import test from 'ava'
import { median, medianLowerBound } from '../../../bench/statistics.ts'

test('the median is the middle value, or the mean of the two middle values', (t) => {
  t.is(median([3, 1, 2]), 2)
  t.is(median([4, 1, 3, 2]), 2.5)
  t.is(median([7]), 7)
  t.is(median([]), Number.NaN)
})

test('the lower bound of the median is the 5th percentile of the medians of bootstrap samples', (t) => {
  // The median of a sample from 1 to 25 is at most k when at least 13 of 25 draws are at most k. The probability of
  // this is 3.0 % for k = 8 and 7.5 % for k = 9.
  const values = Array.from({ length: 25 }, (_, index) => index + 1)
  t.is(medianLowerBound(values), 9)
  t.is(medianLowerBound(values.toReversed()), 9)
  t.is(medianLowerBound(values.map((value) => value / 100)), 0.09)
})

test('a few slow rounds do not lower the bound, and equal rounds have no spread', (t) => {
  const equal = Array.from({ length: 29 }, () => 0.97)
  t.is(medianLowerBound(equal), 0.97)
  t.is(medianLowerBound([0.1, 0.2, ...equal]), 0.97)
})
