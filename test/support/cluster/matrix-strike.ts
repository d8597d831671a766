import { setTimeout as delay } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import { eventually } from '../tools/eventually.ts'
import type { Cluster, ClusterProcess, Peer } from './cluster.ts'
import { nameOf } from './matrix-cells.ts'
import type { Cell, Strike } from './matrix-cells.ts'
import { beginSession, judged } from './matrix-session.ts'
import type { MatrixSession } from './matrix-session.ts'

/** Processes of one service, by what they are to its clients and sessions. */
export interface MatrixCluster {
  readonly cluster: Cluster
  readonly all: ReadonlyArray<ClusterProcess>
  /** Clients come to these; the first one is struck where it is their turn. */
  readonly fronts: ReadonlyArray<ClusterProcess>
  readonly workers: ReadonlyArray<ClusterProcess>
  readonly projector: ClusterProcess
}

/** What became of a cell. */
export interface Outcome {
  readonly cell: string
  readonly wrong: ReadonlyArray<string>
  readonly note: string
}

/** Seconds that a fault lasts; a process that was killed comes back when its sessions are over. */
const LASTS = { 'kill': 0, 'freeze-3': 3, 'freeze-30': 30, 'cut-mongodb': 15, 'cut-eventstoredb': 15, 'cut-peers': 10 } as const
/** Words are said so long behind the fault. */
const BEHIND = 14
const BEFORE = { 'idle': 8, 'mid-phrase': 5, 'in-takeover': 16 } as const
const SECONDS_OF_PHRASE = 2.6
/** Silence before the words: sessions that are idle when the fault strikes, and all others. */
const [IDLE_LEAD, LEAD] = [18, 2]
/** In the middle of the second phrase. */
const STRUCK_AT = 7
const LIMIT = { timeoutMs: 120_000 }

const wordsOf = ({ fault, moment }: Cell): number => Math.ceil((BEFORE[moment] + LASTS[fault] + BEHIND) / SECONDS_OF_PHRASE) * 5

export const untilReady = (processes: ReadonlyArray<ClusterProcess>): Promise<void> =>
  eventually(async () => {
    for (const { name, url } of processes) {
      const answer = await fetch(`${url()}/health/ready`)
      if (answer.status !== 200) throw new Error(`${name} is not ready: ${await answer.text()}`)
    }
  }, LIMIT)

const untilHeard = (sessions: ReadonlyArray<MatrixSession>): Promise<void> =>
  eventually(() => {
    for (const { cell, listeners } of sessions)
      if (!listeners.some((listener) => listener.newest() >= STRUCK_AT)) throw new Error(`${nameOf(cell)}: word ${STRUCK_AT} is not heard: ${listeners.map((l) => l.newest()).join()}`)
  }, LIMIT)

const untilBegun = async (sessions: ReadonlyArray<MatrixSession>): Promise<void> => {
  for (const { sender, source, cell } of sessions) {
    await sender?.begun
    if (cell.source !== 'rtmp') continue
    await eventually(() => {
      if (source?.pulls().length === 0) throw new Error(`${nameOf(cell)}: nobody pulls`)
    }, LIMIT)
  }
}

/** Whom the fault befalls: where it is who runs the sessions, the one that does, or the one that takes them over. */
const victimOf = ({ fronts, workers, projector }: MatrixCluster, { process, isInTakeover }: Strike, home: ClusterProcess): ClusterProcess => {
  const worker = isInTakeover ? workers.find((one) => one !== home) : home
  const [api] = fronts
  if (api === undefined || worker === undefined) throw new Error('no such process')
  return { worker, api, all: worker, projector }[process]
}

/** Processes that clients use, the one in danger first. */
const frontsOf = ({ fronts }: MatrixCluster, victim: ClusterProcess): ReadonlyArray<() => string> =>
  fronts.toSorted((a, b) => Number(b === victim) - Number(a === victim)).map(({ url }) => url)

/** Strikes, lasts, and is mended but for a process that was killed. */
const befall = async ({ workers }: MatrixCluster, victim: ClusterProcess, { fault, process }: Strike): Promise<void> => {
  if (fault === 'kill') return victim.kill()
  if (fault === 'freeze-3' || fault === 'freeze-30') {
    victim.freeze()
    await delay(LASTS[fault] * 1000)
    return victim.thaw()
  }
  const peer = fault.replace('cut-', '') as Peer
  // Who runs no session dials and is not dialled: it is cut off where it dials to.
  const cut = peer === 'peers' && process === 'api' ? workers : [victim]
  for (const one of cut) one.cut(peer)
  await delay(LASTS[fault] * 1000)
  for (const one of cut) one.mend(peer)
}

/** The worker of the sessions is killed, and the fault comes when they were moved. */
const takeOver = async ({ cluster }: MatrixCluster, sessions: ReadonlyArray<MatrixSession>): Promise<ClusterProcess> => {
  const [{ live }] = sessions as [MatrixSession]
  const first = await cluster.workerOf(live.id)
  await first.kill()
  await eventually(async () => {
    if ((await cluster.workerOf(live.id)) === first) throw new Error(`${first.name} was killed and nothing was moved`)
  }, LIMIT)
  return first
}

const runnerOf = ({ cluster: of }: MatrixCluster, id: number): Promise<ClusterProcess> =>
  eventually(() => of.workerOf(id), LIMIT)

/** One fault, and what became of the sessions that it befell. */
export const strike = async (t: ExecutionContext, world: MatrixCluster, blow: Strike): Promise<ReadonlyArray<Outcome>> => {
  let home: ClusterProcess | undefined
  const begin = (cell: Cell): Promise<MatrixSession> =>
    beginSession(t, {
      cell, words: wordsOf(cell), lead: cell.moment === 'idle' ? IDLE_LEAD : LEAD, anyone: world.fronts.map(({ url }) => url),
      frontsOf: async ({ id }) => {
        const worker = await runnerOf(world, id)
        home ??= worker
        return worker === home ? frontsOf(world, victimOf(world, blow, home)) : null
      },
    })
  const [first, ...others] = blow.cells.toSorted((a, b) => Number(b.moment === 'idle') - Number(a.moment === 'idle'))
  if (first === undefined) return []
  const sessions = [await begin(first)]
  sessions.push(...(await Promise.all(others.map(begin))))
  const victim = victimOf(world, blow, await runnerOf(world, sessions[0]?.live.id ?? 0))
  const rest = frontsOf(world, victim).at(-1) ?? (() => '')
  const [idle, spoken] = [sessions.filter(({ cell }) => cell.moment === 'idle'), sessions.filter(({ cell }) => cell.moment !== 'idle')]
  const late: Array<Outcome> = []
  try {
    await untilBegun(sessions)
    await untilHeard(spoken)
    for (const { cell, listeners } of idle)
      if (listeners.some((listener) => listener.newest() > 0)) late.push({ cell: nameOf(cell), wrong: ['it was no longer idle when the fault struck'], note: '' })
    const killed = blow.isInTakeover ? await takeOver(world, sessions) : null
    const struck = performance.now()
    for (const session of sessions) session.struck()
    const over = befall(world, victim, blow)
    if (killed !== null && killed !== victim) await killed.start()
    await over
    const outcomes = await Promise.all(sessions.map(async (session) => {
      const { wrong, lost, exceptions } = await judged(session, rest)
      const silences = session.listeners.map(({ times }) => Math.round((times().find((time) => time > struck) ?? NaN) - struck))
      const breaks = session.sender?.breaks.map(({ code }) => code).join() ?? session.source?.pulls().length
      const note = `${session.words} words, live ${session.live.id}; text ${silences.join(' and ')} ms behind the fault; breaks or pulls: ${breaks};`
        + ` ${lost} words lost${exceptions.length > 0 ? ` (${exceptions.join(', ')})` : ''}`
      return { cell: nameOf(session.cell), wrong, note }
    }))
    return [...late, ...outcomes]
  } finally {
    for (const session of sessions) session.stop()
    for (const process of world.all) if (!process.isRunning()) await process.start()
    await untilReady(world.all)
  }
}
