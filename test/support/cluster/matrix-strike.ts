import { setTimeout as delay } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import { eventually } from '../tools/eventually.ts'
import type { Cluster, ClusterProcess, Peer } from './cluster.ts'
import { nameOf, type Cell, type Strike } from './matrix-cells.ts'
import { beginSession, judgeAtEnd, type MatrixSession } from './matrix-session.ts'

/** The processes of one service by role. */
export interface MatrixCluster {
  readonly cluster: Cluster
  readonly all: ReadonlyArray<ClusterProcess>
  /** The processes that clients use. A fault of an API process hits the first process. */
  readonly fronts: ReadonlyArray<ClusterProcess>
  readonly workers: ReadonlyArray<ClusterProcess>
  readonly projector: ClusterProcess
}

/** The result of a cell. */
export interface Outcome {
  readonly cell: string
  readonly wrong: ReadonlyArray<string>
  readonly note: string
}

/** The duration of each fault in seconds. A killed process starts again after its sessions have ended. */
const FAULT_SECONDS = {
  'kill': 0, 'freeze-3': 3, 'freeze-30': 30, 'cut-mongodb': 15, 'cut-eventstoredb': 15, 'cut-peers': 10,
} as const
/** Speech before and after the fault, in seconds. */
const BEFORE_SECONDS = { 'idle': 8, 'mid-phrase': 5, 'in-takeover': 16 } as const
const AFTER_SECONDS = 14
const PHRASE_SECONDS = 2.6
const WORDS_PER_PHRASE = 5
/** Silence before the words, in seconds: for sessions that are idle during the fault, and for all others. */
const [IDLE_LEAD, LEAD] = [18, 2]
/** The word after which the fault strikes, in the middle of the second phrase. */
const STRIKE_WORD = 7
const LIMIT = { timeoutMs: 120_000 }

const wordsOf = ({ fault, moment }: Cell): number => {
  const seconds = BEFORE_SECONDS[moment] + FAULT_SECONDS[fault] + AFTER_SECONDS
  return Math.ceil(seconds / PHRASE_SECONDS) * WORDS_PER_PHRASE
}

export const untilReady = (processes: ReadonlyArray<ClusterProcess>): Promise<void> =>
  eventually(async () => {
    for (const { name, url } of processes) {
      const answer = await fetch(`${url()}/health/ready`)
      if (answer.status !== 200) throw new Error(`${name} is not ready: ${await answer.text()}`)
    }
  }, LIMIT)

const untilTranscribed = (sessions: ReadonlyArray<MatrixSession>): Promise<void> =>
  eventually(() => {
    for (const { cell, listeners } of sessions) {
      const newest = listeners.map((listener) => listener.newest())
      if (newest.some((number) => number >= STRIKE_WORD)) continue
      throw new Error(`${nameOf(cell)}: word ${STRIKE_WORD} is not transcribed: ${newest.join()}`)
    }
  }, LIMIT)

const untilBegun = async (sessions: ReadonlyArray<MatrixSession>): Promise<void> => {
  for (const { sender, source, cell } of sessions) {
    await sender?.begun
    if (cell.source !== 'rtmp') continue
    await eventually(() => {
      if (source?.pulls().length === 0) throw new Error(`${nameOf(cell)}: no puller is connected`)
    }, LIMIT)
  }
}

/** Returns the process that the fault hits. A fault of a worker hits the worker that has or takes over the sessions. */
const victimOf = (
  { fronts, workers, projector }: MatrixCluster,
  { process, isInTakeover }: Strike,
  home: ClusterProcess,
): ClusterProcess => {
  const worker = isInTakeover ? workers.find((candidate) => candidate !== home) : home
  const [api] = fronts
  if (api === undefined || worker === undefined) throw new Error(`the cluster has no process for ${process}`)
  return { worker, api, all: worker, projector }[process]
}

/** The URLs of the processes that clients use. The process that the fault will hit comes first. */
const frontsOf = ({ fronts }: MatrixCluster, victim: ClusterProcess): ReadonlyArray<() => string> =>
  fronts.toSorted((a, b) => Number(b === victim) - Number(a === victim)).map(({ url }) => url)

/** Causes the fault, waits for its duration, and ends it. A killed process stays down. */
const causeFault = async (
  { workers }: MatrixCluster,
  victim: ClusterProcess,
  { fault, process }: Strike,
): Promise<void> => {
  if (fault === 'kill') return victim.kill()
  if (fault === 'freeze-3' || fault === 'freeze-30') {
    victim.freeze()
    await delay(FAULT_SECONDS[fault] * 1000)
    return victim.thaw()
  }
  const peer = fault.replace('cut-', '') as Peer
  // An API process connects to workers and is not contacted by them, so the workers are cut off instead.
  const cut = peer === 'peers' && process === 'api' ? workers : [victim]
  for (const member of cut) member.cut(peer)
  await delay(FAULT_SECONDS[fault] * 1000)
  for (const member of cut) member.mend(peer)
}

/** Kills the worker of the sessions and waits until the sessions have moved. Returns the killed worker. */
const killWorker = async (
  { cluster }: MatrixCluster,
  sessions: ReadonlyArray<MatrixSession>,
): Promise<ClusterProcess> => {
  const [{ live }] = sessions as [MatrixSession]
  const first = await cluster.workerOf(live.id)
  await first.kill()
  await eventually(async () => {
    const worker = await cluster.workerOf(live.id)
    if (worker === first) throw new Error(`session ${live.id} still belongs to ${first.name}`)
  }, LIMIT)
  return first
}

const workerOf = ({ cluster }: MatrixCluster, id: number): Promise<ClusterProcess> =>
  eventually(() => cluster.workerOf(id), LIMIT)

const isIdle = ({ moment }: Cell): boolean => moment === 'idle'

/** Waits for the end of a session and describes it. `struckAt`: the time of the fault. */
const outcomeOf = async (session: MatrixSession, front: () => string, struckAt: number): Promise<Outcome> => {
  const { wrong, lost, exceptions } = await judgeAtEnd(session, front)
  const silences = session.listeners.map(({ times }) => {
    const next = times().find((time) => time > struckAt) ?? NaN
    return Math.round(next - struckAt)
  })
  const breaks = session.sender?.breaks.map(({ code }) => code).join() ?? session.source?.pulls().length
  const note = [
    `${session.words} words, session ${session.live.id}`,
    `text ${silences.join(' and ')} ms after the fault`,
    `breaks or pulls: ${breaks}`,
    `${lost} words lost${exceptions.length > 0 ? ` (${exceptions.join(', ')})` : ''}`,
  ].join('; ')
  return { cell: nameOf(session.cell), wrong, note }
}

/** Causes one fault and returns the results of its sessions. */
export const strike = async (
  t: ExecutionContext,
  world: MatrixCluster,
  requested: Strike,
): Promise<ReadonlyArray<Outcome>> => {
  let home: ClusterProcess | undefined
  const begin = (cell: Cell): Promise<MatrixSession> =>
    beginSession(t, {
      cell,
      words: wordsOf(cell),
      lead: cell.moment === 'idle' ? IDLE_LEAD : LEAD,
      clientUrls: world.fronts.map(({ url }) => url),
      frontsOf: async ({ id }) => {
        const worker = await workerOf(world, id)
        home ??= worker
        return worker === home ? frontsOf(world, victimOf(world, requested, home)) : null
      },
    })
  // Idle sessions begin first, because they must be silent when the fault strikes.
  const [first, ...others] = [...requested.cells.filter(isIdle), ...requested.cells.filter((cell) => !isIdle(cell))]
  if (first === undefined) return []
  const sessions = [await begin(first)]
  sessions.push(...(await Promise.all(others.map(begin))))
  const victim = victimOf(world, requested, await workerOf(world, sessions[0]?.live.id ?? 0))
  const otherFront = frontsOf(world, victim).at(-1) ?? (() => '')
  const outcomes: Array<Outcome> = []
  try {
    await untilBegun(sessions)
    await untilTranscribed(sessions.filter(({ cell }) => !isIdle(cell)))
    for (const { cell, listeners } of sessions.filter((session) => isIdle(session.cell)))
      if (listeners.some((listener) => listener.newest() > 0))
        outcomes.push({ cell: nameOf(cell), wrong: ['the session was not idle when the fault struck'], note: '' })
    const killed = requested.isInTakeover ? await killWorker(world, sessions) : null
    const struckAt = performance.now()
    for (const session of sessions) session.recordStrike()
    const fault = causeFault(world, victim, requested)
    if (killed !== null && killed !== victim) await killed.start()
    await fault
    outcomes.push(...(await Promise.all(sessions.map((session) => outcomeOf(session, otherFront, struckAt)))))
    return outcomes
  } finally {
    for (const session of sessions) session.stop()
    for (const process of world.all) if (!process.isRunning()) await process.start()
    await untilReady(world.all)
  }
}
