import test from 'ava'
import { createPassLimits, LONGEST_TRIAL_MS } from '../../../../../infrastructure/onnx/process/pass-limits.ts'
import { createWidth } from '../../../../../infrastructure/onnx/process/width.ts'

test('a pass may take five times as long as the measured trial pass, and at least the floor', (t) => {
  const limits = createPassLimits({ floor: 120_000, measured: (model) => ({ slow: 300_000, quick: 900 })[model] })
  t.is(limits.limitMs('slow'), 1_500_000)
  t.is(limits.limitMs('quick'), 120_000)
})

test('an unmeasured model has the limit of a trial until its first pass has ended', (t) => {
  const limits = createPassLimits({ floor: 120_000 })
  t.is(limits.limitMs('unmeasured'), LONGEST_TRIAL_MS)
  limits.recordDuration('unmeasured', 2_000)
  t.is(limits.limitMs('unmeasured'), 120_000)
  limits.recordDuration('unmeasured', 60_000)
  limits.recordDuration('unmeasured', 3_000)
  t.is(limits.limitMs('unmeasured'), 300_000, 'the slowest pass counts')
})

test('the usual time is the median of the last passes; before the first pass it is the time of the trial', (t) => {
  const limits = createPassLimits({ floor: 1, measured: (model) => ({ base: 700 })[model] })
  t.is(limits.timeOf('unmeasured'), null)
  t.deepEqual(limits.timeOf('base'), { usual: 0.7, least: 0.7 })
  for (const milliseconds of [300, 90_000, 200]) limits.recordDuration('base', milliseconds)
  t.deepEqual(limits.timeOf('base'), { usual: 0.3, least: 0.2 }, 'one delayed pass does not count')
  for (let n = 0; n < 32; n++) limits.recordDuration('base', 500)
  t.deepEqual(limits.timeOf('base'), { usual: 0.5, least: 0.5 }, 'earlier passes are forgotten')
  for (const milliseconds of [100, 300, 200]) limits.recordProcessorTime('base', milliseconds)
  t.deepEqual(limits.timeOf('base'), { usual: 0.5, least: 0.5, busy: 0.2 }, 'the processor time is reported separately')
})

const MINUTE = 60_000

test('the number of parallel tasks doubles ten minutes after a kill; each further kill doubles this wait', (t) => {
  let now = 0
  const width = createWidth(8, () => now)
  width.halve()
  t.is(width.now(), 4)
  now += 10 * MINUTE
  t.is(width.now(), 8)
  width.halve()
  now += 10 * MINUTE
  t.is(width.now(), 4)
  now += 10 * MINUTE
  t.is(width.now(), 8)
  now += 24 * 60 * MINUTE
  t.is(width.now(), 8, 'never more than the full number')
})

test('a restarted process runs as many tasks as it can, but no more than the limit since the last kill', (t) => {
  const width = createWidth(2, () => 0)
  width.resize(8)
  t.is(width.now(), 8)
  width.halve()
  width.resize(6)
  t.is(width.now(), 4, 'a process that can run six tasks has no more memory than the process before')
  width.resize(2)
  t.is(width.now(), 2)
  width.resize(8)
  t.is(width.now(), 8)
})
