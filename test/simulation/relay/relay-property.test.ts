import test from 'ava'
import fc from 'fast-check'
import { chanceOf, createRandom } from '../../support/tools/seeded.ts'
import type { TranscriptFrame } from '../../../domain/transcript/frame.ts'
import { finalKey } from '../../../application/lives/queries/resume-point.ts'
import { createRelayApi } from '../../unit/application/running/relay/relay-api.ts'
import { createRelayLog, LIVE, type RelayLog } from '../../unit/application/running/relay/relay-log.ts'
import { createRelayWorker, type RelayWorker } from '../../unit/application/running/relay/relay-worker.ts'

interface Schedule {
  readonly seed: number
  readonly actions: number
}

type Listener = ReturnType<ReturnType<typeof createRelayApi>['listen']>

const ENDED = { status: 'finished', reason: 'finish_route' } as const

/** Identifies a final by its key and text. */
const idOf = (frame: TranscriptFrame): string => `${finalKey(frame)}: ${frame.text}`

/** Returns finals that were lost and transcribed again with equal text. A listener receives each of them only once. */
const repeatedIn = (ids: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(ids.filter((id, index) => ids.indexOf(id) !== index))

/** Compares the finals that each listener received with the log. Returns the problems. */
const problemsOf = (world: RelayLog, listeners: ReadonlyArray<Listener>): ReadonlyArray<string> => {
  const produced = world.produced.map(idOf)
  const repeated = repeatedIn(produced)
  const stored = new Set(world.log.map(idOf))
  // Repeated finals have no single place, so their order is not checked.
  const ordered = world.log.map(idOf).filter((id) => !repeated.has(id))
  return listeners.flatMap(({ api, point, received, endings, hasJoined, isClosed, owedFrom }, index) => {
    const name = `listener ${index} at ${api} ${point === null ? 'from now on' : 'from the first segment'}`
    const ids = received.map(idOf)
    const places = ids.map((id) => ordered.indexOf(id)).filter((place) => place !== -1)
    // A listener that left before the end may lack the last finals.
    const hasLeft = isClosed() || endings[0] === 'unavailable' || endings[0] === 'server_restart'
    const since = new Set(produced.slice(owedFrom()))
    const before = new Set(produced.slice(0, owedFrom()))
    const missed = [...repeated].filter((id) => stored.has(id) && since.has(id) && !before.has(id) && !ids.includes(id))
    const owed = ordered.filter((id) => since.has(id))
    const got = places.map((place) => ordered[place] ?? '').filter((id) => since.has(id))
    const faults: Array<string> = []
    if (new Set(ids).size !== ids.length) faults.push(`${name} received twice: ${ids.join(' | ')}`)
    if (places.some((place, n) => n > 0 && place < (places[n - 1] ?? 0)))
      faults.push(`${name} received out of order: ${ids.join(' | ')}`)
    if (JSON.stringify(got) !== JSON.stringify(hasLeft ? owed.slice(0, got.length) : owed))
      faults.push(`${name} received\n  ${got.join(' | ')}\ninstead of\n  ${owed.join(' | ')}`)
    if (!hasLeft && missed.length > 0)
      faults.push(`${name} never received the repeated finals ${missed.join(' | ')}`)
    if (!hasLeft && (!hasJoined() || endings.length !== 1)) faults.push(`${name} received the ends ${endings.join()}`)
    return faults
  })
}

/** The links that the simulation may cut. */
const PAIRS: ReadonlyArray<[string, string]> = [
  ['p', 'a'], ['p', 'b'], ['p', 'c'], ['q', 'a'], ['q', 'b'], ['q', 'c'], ['b', 'a'], ['b', 'c'],
]

interface Processes {
  readonly workers: ReadonlyArray<RelayWorker>
  readonly apis: ReadonlyArray<ReturnType<typeof createRelayApi>>
}

/** Returns the listeners that have not received the newest final. With working links it must arrive immediately. */
const withoutNewest = (
  newest: TranscriptFrame | undefined,
  listeners: ReadonlyArray<Listener>,
): ReadonlyArray<string> =>
  listeners.flatMap(({ api, received, endings, hasJoined, isClosed }, index) => {
    const hasNewest = newest === undefined || received.some((frame) => idOf(frame) === idOf(newest))
    return hasNewest || isClosed() || !hasJoined() || endings.length > 0
      ? []
      : [`listener ${index} at ${api} does not receive the newest final`]
  })

/** Restores all links, transcribes some more and ends the session. Returns the listeners without the newest final. */
const recoverAndEnd = async (
  world: RelayLog,
  { workers, apis }: Processes,
  listeners: ReadonlyArray<Listener>,
  random: () => number,
): Promise<ReadonlyArray<string>> => {
  world.store.isUnavailable = false
  world.speech.hasSameText = false
  for (const pair of PAIRS) {
    world.network.mend(...pair)
    world.network.delay(...pair, 0)
  }
  if (world.placedOn() === null) world.place('a')
  for (const worker of workers) worker.flush()
  for (const worker of workers) await worker.settle()
  for (const api of apis) api.observeMoves()
  await world.pass(8000)
  const owner = workers.find(({ name }) => name === world.placedOn())
  for (let n = 0; n < 3; n += 1) {
    owner?.speak(false, 0)
    await world.turns(n)
  }
  await world.pass(1000)
  const problems = withoutNewest(world.log.at(-1), listeners)
  // Some links break before they send the last finals or the end.
  if (random() < 0.5) world.network.breakLinks('p', owner?.name ?? '')
  const byLog = apis.map(({ remote }) => () => remote.ended(LIVE, ENDED))
  const byWorker = () => owner?.end(ENDED)
  const ends = random() < 0.5 ? [byWorker, ...byLog] : [...byLog, byWorker]
  for (const end of ends) {
    end()
    await world.turns(Math.floor(random() * 3))
  }
  world.release()
  await world.pass(4000)
  return problems
}

/**
 * Transcribes, moves, disconnects and listens to a session at random, then restores all links and ends it. Returns
 * the problems: finals that a listener missed, received twice or out of order, and a missing or repeated end.
 */
const runRelay = async ({ seed, actions }: Schedule) => {
  const random = createRandom(`relay ${seed}`)
  const pick = <A>(all: ReadonlyArray<A>): A => all[Math.floor(random() * all.length)] as A
  const world = createRelayLog(random)
  const workers = [createRelayWorker(world, 'a'), createRelayWorker(world, 'b'), createRelayWorker(world, 'c')] as const
  const [, workerWithApi] = workers
  world.join(...workers)
  world.place('a')
  await workers[0].settle()
  // Worker b also serves listeners.
  const apis = [
    createRelayApi(world, 'p'),
    createRelayApi(world, 'q'),
    createRelayApi(world, 'b', workerWithApi),
  ] as const
  const listeners: Array<Listener> = []
  let [moves, cuts] = [0, 0]
  const frozen = new Set<string>()
  const awake = () => workers.filter(({ name }) => !frozen.has(name))

  const acts: ReadonlyArray<readonly [weight: number, act: () => Promise<void> | void]> = [
    [30, () => pick(awake()).speak(random() < 0.3, random() < 0.4 ? 1 + Math.floor(random() * 3) : 0)],
    [8, () => void listeners.push(pick(apis).listen(random() < 0.6 ? { kind: 'after', segment: 0 } : null))],
    [2, () => pick(listeners)?.leave()],
    [4, () => {
      moves += 1
      world.place(random() < 0.1 ? null : pick(workers).name)
    }],
    [10, () => pick(awake()).settle()],
    [8, () => pick(apis).observeMoves()],
    [4, () => {
      cuts += 1
      world.network.breakLinks(...pick(PAIRS))
    }],
    [2, () => world.network.cut(...pick(PAIRS))],
    [3, () => world.network.mend(...pick(PAIRS))],
    [2, () => {
      const { name } = pick([workers[0], workers[2]])
      frozen.add(name)
      world.network.freeze(name)
    }],
    [2, () => {
      for (const name of frozen) world.network.thaw(name)
      frozen.clear()
    }],
    [2, () => { world.store.isUnavailable = !world.store.isUnavailable }],
    [2, () => { world.speech.hasSameText = !world.speech.hasSameText }],
    [3, () => { world.network.delay(...pick(PAIRS), pick([0, 0, 50, 300])) }],
    [20, () => world.timers.advance(random() * 800)],
    [10, () => world.turns(Math.floor(random() * 12))],
  ]
  const total = acts.reduce((sum, [weight]) => sum + weight, 0)
  for (let n = 0; n < actions; n += 1) {
    let remaining = random() * total
    for (const [weight, act] of acts) {
      remaining -= weight
      if (remaining >= 0) continue
      await act()
      break
    }
    if (random() < 0.5) await world.turns(2)
  }

  for (const name of frozen) world.network.thaw(name)
  const problems = await recoverAndEnd(world, { workers, apis }, listeners, random)
  await Promise.all(listeners.map(({ joining }) => joining))

  const allProblems = [...problems, ...problemsOf(world, listeners)]
  for (const { remote } of apis) remote.close()
  const errors = world.logger.lines
    .filter(({ level }) => level === 'error')
    .map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`)
  return { problems: [...allProblems, ...errors], moves, cuts, finals: world.log.length, listeners: listeners.length }
}

const SCHEDULES = 150

test('through cuts, freezes and moves each listener receives all finals once and in order', async (t) => {
  const seed = Math.floor(chanceOf(t).random('schedules')() * 2 ** 31)
  let [moves, cuts, finals, listeners] = [0, 0, 0, 0]
  await fc.assert(
    fc.asyncProperty(fc.record({ seed: fc.nat(), actions: fc.integer({ min: 20, max: 150 }) }), async (schedule) => {
      const outcome = await runRelay(schedule)
      moves += outcome.moves
      cuts += outcome.cuts
      finals += outcome.finals
      listeners += outcome.listeners
      if (outcome.problems.length > 0) throw new Error(outcome.problems.join('\n'))
    }),
    { numRuns: SCHEDULES, endOnFailure: true, seed, includeErrorInReport: true },
  )
  t.log(`${SCHEDULES} schedules: ${finals} finals, ${moves} moves, ${cuts} cuts, ${listeners} listeners`)
  t.true(finals > SCHEDULES * 5 && moves > SCHEDULES && listeners > SCHEDULES, 'the schedules contain too few events')
})
