import { finalKey } from '../../../application/lives/queries/resume-point.ts'
import type { TranscriptFrame } from '../../../application/pipeline/signals.ts'
import { createRandom } from '../../support/tools/seeded.ts'
import { createRelayApi } from '../../unit/relay/relay-api.ts'
import { createRelayLog, LIVE } from '../../unit/relay/relay-log.ts'
import type { RelayLog } from '../../unit/relay/relay-log.ts'
import { createRelayWorker } from '../../unit/relay/relay-worker.ts'
import type { RelayWorker } from '../../unit/relay/relay-worker.ts'

export interface Schedule {
  readonly seed: number
  readonly actions: number
}

type Listener = ReturnType<ReturnType<typeof createRelayApi>['listen']>

const ENDED = { status: 'finished', reason: 'finish_route' } as const

/** Of one final as somebody told it. */
const wordOf = (frame: TranscriptFrame): string => `${finalKey(frame)}: ${frame.text}`

/** What was told, lost and said again with the same words: it is told once, where it was told first. */
const repeatedIn = (words: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(words.filter((word, place) => words.indexOf(word) !== place))

/** What is wrong with what they heard. */
const judge = (world: RelayLog, listeners: ReadonlyArray<Listener>): ReadonlyArray<string> => {
  const said = world.said.map(wordOf)
  const again = repeatedIn(said)
  const stored = new Set(world.log.map(wordOf))
  const words = world.log.map(wordOf).filter((word) => !again.has(word))
  return listeners.flatMap(({ api, point, heard, endings, hasJoined, isClosed, owedFrom }, index) => {
    const who = `listener ${index} at ${api} ${point === null ? 'from now on' : 'from the first on'}`
    const told = heard.map(wordOf)
    const places = told.map((word) => words.indexOf(word)).filter((place) => place !== -1)
    const isUntil = isClosed() || endings[0] === 'unavailable' || endings[0] === 'server_restart'
    const since = new Set(said.slice(owedFrom()))
    const before = new Set(said.slice(0, owedFrom()))
    const missed = [...again].filter(
      (word) => stored.has(word) && since.has(word) && !before.has(word) && !told.includes(word),
    )
    const owed = words.filter((word) => since.has(word))
    const got = places.map((place) => words[place] ?? '').filter((word) => since.has(word))
    const faults: Array<string> = []
    if (new Set(told).size !== told.length) faults.push(`${who} heard twice: ${told.join(' | ')}`)
    if (places.some((place, n) => n > 0 && place < (places[n - 1] ?? 0)))
      faults.push(`${who} heard out of order: ${told.join(' | ')}`)
    if (JSON.stringify(got) !== JSON.stringify(isUntil ? owed.slice(0, got.length) : owed))
      faults.push(`${who} heard\n  ${got.join(' | ')}\ninstead of\n  ${owed.join(' | ')}`)
    if (!isUntil && missed.length > 0)
      faults.push(`${who} did not hear, however often it was said: ${missed.join(' | ')}`)
    if (!isUntil && (!hasJoined() || endings.length !== 1)) faults.push(`${who} was told of ends: ${endings.join()}`)
    return faults
  })
}

/** Who may be cut off from whom. */
const PAIRS: ReadonlyArray<[string, string]> = [
  ['p', 'a'], ['p', 'b'], ['p', 'c'], ['q', 'a'], ['q', 'b'], ['q', 'c'], ['b', 'a'], ['b', 'c'],
]

interface Processes {
  readonly workers: ReadonlyArray<RelayWorker>
  readonly apis: ReadonlyArray<ReturnType<typeof createRelayApi>>
}

/** What is said now that all is reached again comes at once: nobody needs the end for it. */
const deafTo = (newest: TranscriptFrame | undefined, listeners: ReadonlyArray<Listener>): ReadonlyArray<string> =>
  listeners.flatMap(({ api, heard, endings, hasJoined, isClosed }, index) => {
    const isHeard = newest === undefined || heard.some((frame) => wordOf(frame) === wordOf(newest))
    return isHeard || isClosed() || !hasJoined() || endings.length > 0
      ? []
      : [`listener ${index} at ${api} hears nothing any more`]
  })

/** All is reached again, some more is said, and the live ends. Who is deaf meanwhile. */
const mendAndEnd = async (
  world: RelayLog,
  { workers, apis }: Processes,
  listeners: ReadonlyArray<Listener>,
  random: () => number,
): Promise<ReadonlyArray<string>> => {
  world.store.isAway = false
  world.speech.isSame = false
  for (const pair of PAIRS) {
    world.network.mend(...pair)
    world.network.delay(...pair, 0)
  }
  if (world.placedOn() === null) world.place('a')
  for (const worker of workers) worker.flush()
  for (const worker of workers) await worker.settle()
  for (const api of apis) api.hearMoves()
  await world.pass(8000)
  const owner = workers.find(({ name }) => name === world.placedOn())
  for (let n = 0; n < 3; n += 1) {
    owner?.speak(false, 0)
    await world.turns(n)
  }
  await world.pass(1000)
  const deaf = deafTo(world.log.at(-1), listeners)
  // Some links do not tell of the end, or of what was said before it.
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
  return deaf
}

/**
 * A live is spoken, moved, cut off and listened to at random; then all is mended, and it ends. What is wrong with what
 * each listener heard: finals of the log that were left out, doubled or out of order, and an end that was not told once.
 */
export const runRelay = async ({ seed, actions }: Schedule) => {
  const random = createRandom(`relay ${seed}`)
  const pick = <A>(all: ReadonlyArray<A>): A => all[Math.floor(random() * all.length)] as A
  const world = createRelayLog(random)
  const workers = [createRelayWorker(world, 'a'), createRelayWorker(world, 'b'), createRelayWorker(world, 'c')] as const
  const [, both] = workers
  world.join(...workers)
  world.place('a')
  await workers[0].settle()
  // One has sockets of its own.
  const apis = [createRelayApi(world, 'p'), createRelayApi(world, 'q'), createRelayApi(world, 'b', both)] as const
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
    [8, () => pick(apis).hearMoves()],
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
    [2, () => { world.store.isAway = !world.store.isAway }],
    [2, () => { world.speech.isSame = !world.speech.isSame }],
    [3, () => { world.network.delay(...pick(PAIRS), pick([0, 0, 50, 300])) }],
    [20, () => world.timers.advance(random() * 800)],
    [10, () => world.turns(Math.floor(random() * 12))],
  ]
  const total = acts.reduce((sum, [weight]) => sum + weight, 0)
  for (let n = 0; n < actions; n += 1) {
    let at = random() * total
    for (const [weight, act] of acts) {
      at -= weight
      if (at >= 0) continue
      await act()
      break
    }
    if (random() < 0.5) await world.turns(2)
  }

  for (const name of frozen) world.network.thaw(name)
  const deaf = await mendAndEnd(world, { workers, apis }, listeners, random)
  await Promise.all(listeners.map(({ coming }) => coming))

  const wrong = [...deaf, ...judge(world, listeners)]
  for (const { remote } of apis) remote.close()
  const broken = world.logger.lines
    .filter(({ level }) => level === 'error')
    .map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`)
  return { wrong: [...wrong, ...broken], moves, cuts, finals: world.log.length, listeners: listeners.length }
}
