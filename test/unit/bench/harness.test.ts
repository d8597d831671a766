import test from 'ava'
import { timed } from '../../../bench/cpu-time.ts'
import { measure, reachesTarget, type Benchmark, type Figure, type Round } from '../../../bench/harness.ts'

const round = (seconds: number, cpuSeconds: number | null): Round => ({ work: 1, seconds, cpuSeconds })

/** A benchmark whose rounds take the listed times, warm-ups first. `calls` records the order of the rounds. */
const scripted = (ours: ReadonlyArray<Round>, peers: ReadonlyArray<Round>, chosen: Partial<Benchmark> = {}) => {
  const calls: Array<string> = []
  const next = (name: string, rounds: ReadonlyArray<Round>) => async () => {
    const done = calls.filter((call) => call === name).length
    calls.push(name)
    return rounds[done] ?? round(Number.NaN, null)
  }
  const benchmark: Benchmark = {
    name: 'scripted',
    meaning: 'a list',
    peer: 'another list',
    unit: 'rounds',
    basis: 'wall',
    atLeast: 0.5,
    rounds: 3,
    warmUp: true,
    prepare: async () => ({
      ours: next('ours', ours),
      peers: next('peers', peers),
      close: async () => void calls.push('close'),
    }),
    ...chosen,
  }
  return { benchmark, calls }
}

test('the two sides take turns in running first, after a warm-up that does not count', async (t) => {
  const { benchmark, calls } = scripted([9, 1, 1, 1].map((s) => round(s, s)), [9, 2, 4, 8].map((s) => round(s, s)))
  const figure = await measure(benchmark)
  t.deepEqual(calls, ['ours', 'peers', 'ours', 'peers', 'peers', 'ours', 'ours', 'peers', 'close'])
  t.like(figure, { ratio: 4, ratio_min: 2, ratio_max: 8, ours_per_s: 1, peer_per_s: 0.25, rounds: 3, at_least: 0.5 })
})

test('a second instance of the peer runs in the same rounds; its ratio to the peer is reported beside', async (t) => {
  const { benchmark, calls } = scripted([2, 2, 2].map((s) => round(s, s)), [1, 1, 1].map((s) => round(s, s)), {
    rounds: 2,
  })
  const prepare: Benchmark['prepare'] = async () => {
    const contest = await benchmark.prepare()
    if ('skipped' in contest) return contest
    const peersAgain = async (): Promise<Round> => {
      calls.push('again')
      return round(4, 4)
    }
    return { ...contest, peersAgain }
  }
  const figure = await measure({ ...benchmark, prepare })
  t.deepEqual(calls, ['ours', 'peers', 'again', 'ours', 'peers', 'again', 'again', 'peers', 'ours', 'close'])
  t.like(figure, { ratio: 0.5, ratio_lower: 0.5, peer_against_itself: { ratio: 0.25, ratio_lower: 0.25 }, rounds: 2 })
})

test('a target is reached by the median, or by the lower bound if the peer was compared with itself', async (t) => {
  const { benchmark } = scripted([1, 1, 1, 1].map((s) => round(s, s)), [1, 1, 1, 1].map((s) => round(s, s)))
  const figure = (await measure(benchmark)) as Figure
  const reaches = (ratio: number, lower: number, itself: number | null): boolean =>
    reachesTarget({
      ...figure, at_least: 0.95, ratio, ratio_lower: lower,
      peer_against_itself: itself === null ? null : { ratio: 1, ratio_lower: itself },
    })
  t.true(reaches(0.95, 0.9, null))
  t.false(reaches(0.94, 0.9, null))
  t.true(reaches(1, 0.95, 0.97))
  t.false(reaches(1, 0.94, 0.97))
  t.true(reaches(0.95, 0.93, 0.92), 'as good as the peer against itself')
  t.true(reachesTarget({ ...figure, at_least: null, ratio: 0.1 }), 'without a target')
})

test('the ratio uses the time that the benchmark names; both times are reported', async (t) => {
  const [ours, peers] = [[1, 1, 1, 1].map((s) => round(s, 2)), [1, 2, 2, 2].map((s) => round(s, 1))]
  t.like(await measure(scripted(ours, peers).benchmark), { basis: 'wall', ratio: 2, wall_ratio: 2, cpu_ratio: 0.5 })
  t.like(await measure(scripted(ours, peers, { basis: 'cpu' }).benchmark), {
    basis: 'cpu',
    ratio: 0.5,
    wall_ratio: 2,
    cpu_ratio: 0.5,
  })
})

test('without CPU times the ratio uses wall time, and the result names this basis', async (t) => {
  const [ours, peers] = [[1, 1, 1, 1].map((s) => round(s, null)), [1, 2, 2, 2].map((s) => round(s, 1))]
  t.like(await measure(scripted(ours, peers, { basis: 'cpu' }).benchmark), { basis: 'wall', ratio: 2, cpu_ratio: null })
})

test('a benchmark that lacks a requirement names it and measures nothing', async (t) => {
  const { benchmark } = scripted([], [], { prepare: async () => ({ skipped: 'no model' }) })
  t.deepEqual(await measure(benchmark), { name: 'scripted', skipped: 'no model' })
})

test('a failing side still closes everything that was opened', async (t) => {
  const { benchmark, calls } = scripted([], [])
  const prepare: Benchmark['prepare'] = async () => ({
    ours: () => Promise.reject(new Error('broken')),
    peers: async () => round(1, 1),
    close: async () => void calls.push('close'),
  })
  await t.throwsAsync(measure({ ...benchmark, prepare }), { message: 'broken' })
  t.deepEqual(calls, ['close'])
})

test('a round reports its amount of work and its CPU time', async (t) => {
  const done = await timed(7, () => {
    const until = process.cpuUsage().user + 50_000
    while (process.cpuUsage().user < until);
  })
  t.is(done.work, 7)
  if (process.platform === 'linux') t.true((done.cpuSeconds ?? 0) >= 0.03, `${done.cpuSeconds} s`)
  else t.pass()
})
