import test from 'ava'
import { createPassLimits, LONGEST_TRIAL_MS } from '../../../infrastructure/onnx/process/pass-limits.ts'
import { createWidth } from '../../../infrastructure/onnx/process/width.ts'

test('the limit of a pass is five times the pass of the trial', (t) => {
  const limits = createPassLimits({ floor: 120_000, measured: (model) => ({ slow: 300_000, quick: 900 })[model] })
  t.is(limits.limitMs('slow'), 1_500_000)
  t.is(limits.limitMs('quick'), 120_000)
})

test('an unmeasured model has the limit of a trial until its first pass has ended', (t) => {
  const limits = createPassLimits({ floor: 120_000 })
  t.is(limits.limitMs('by hand'), LONGEST_TRIAL_MS)
  limits.recordDuration('by hand', 2_000)
  t.is(limits.limitMs('by hand'), 120_000)
  limits.recordDuration('by hand', 60_000)
  limits.recordDuration('by hand', 3_000)
  t.is(limits.limitMs('by hand'), 300_000, 'the slowest pass counts')
})

test('the usual time is the median of the last passes, or the trial before the first pass', (t) => {
  const limits = createPassLimits({ floor: 1, measured: (model) => ({ base: 700 })[model] })
  t.is(limits.timeOf('by hand'), null)
  t.deepEqual(limits.timeOf('base'), { usual: 0.7, least: 0.7 })
  for (const milliseconds of [300, 90_000, 200]) limits.recordDuration('base', milliseconds)
  t.deepEqual(limits.timeOf('base'), { usual: 0.3, least: 0.2 }, 'one that was held up does not count')
  for (let n = 0; n < 32; n++) limits.recordDuration('base', 500)
  t.deepEqual(limits.timeOf('base'), { usual: 0.5, least: 0.5 }, 'earlier ones are forgotten')
  for (const milliseconds of [100, 300, 200]) limits.recordProcessorTime('base', milliseconds)
  t.deepEqual(limits.timeOf('base'), { usual: 0.5, least: 0.5, busy: 0.2 }, 'what kept a processor busy is told apart')
})

const MINUTE = 60_000

test('the number of tasks at a time doubles after ten minutes without a kill, later after each further kill', (t) => {
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
  t.is(width.now(), 8, 'never more than all')
})

test('a process on other hardware runs as many tasks as it can, or fewer after a kill', (t) => {
  const width = createWidth(2, () => 0)
  width.resize(8)
  t.is(width.now(), 8)
  width.halve()
  width.resize(6)
  t.is(width.now(), 4, 'a process that could work on six has no more memory than the one before')
  width.resize(2)
  t.is(width.now(), 2)
  width.resize(8)
  t.is(width.now(), 8)
})
