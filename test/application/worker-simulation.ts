import * as E from 'fp-ts/lib/Either.js'
import { v7 } from 'uuid'
import { reconciling } from '../../application/lives/policies/reconcile-lives.ts'
import type { AdmissionCommand } from '../../domain/admission/decider.ts'
import { createMemoryKeyring } from '../support/memory-keyring.ts'
import { AUDIO } from '../support/sessions.ts'
import type { ScriptedPipeline } from '../support/scripted-pipeline.ts'
import { createTestEnvironment } from '../support/test-environment.ts'
import { createRandom } from './crash-simulation.ts'
import { createWorkerLogRules } from './worker-log-rules.ts'
import { createWorkerProcesses, NO_FAULTS } from './worker-processes.ts'
import type { AppendFaults, SimulatedWorkerProcess } from './worker-processes.ts'
import { createWorker } from './worker-world.ts'
import { callerOf, requestOf } from './write-side.ts'

const CAPACITY = 6
const NAMES = ['w1', 'w2', 'w3'] as const
const MAX_STEPS = 20_000

export interface Schedule extends AppendFaults {
  readonly seed: number
  /** Things that happen: creates, finals, ends, workers that freeze, die, are taken for dead. */
  readonly actions: number
}

interface Running {
  readonly name: string
  readonly process: SimulatedWorkerProcess
  readonly worker: Awaited<ReturnType<typeof createWorker>>
  readonly incarnation: string
}

/** Three workers on one log, whose clocks, reads and appends move as the seed says. */
const createWorld = (seed: number) => {
  const random = createRandom(seed)
  const chance = (share: number): boolean => random() < share
  const pick = <A>(list: ReadonlyArray<A>): A | undefined => list[Math.floor(random() * list.length)]
  const rules = createWorkerLogRules(CAPACITY)
  const world = createWorkerProcesses(random, rules.observe)
  const keyring = createMemoryKeyring()
  const wrong: Array<string> = []
  const owner = callerOf(1, { maxSessions: 1000 })
  let running: ReadonlyArray<Running> = []
  const told = new Map<ScriptedPipeline, number>()

  const now = (): string => new Date(Date.parse('2026-11-21T09:30:00Z') + world.now()).toISOString().replace('Z', '000+00:00')
  const awake = (): ReadonlyArray<Running> => running.filter(({ process }) => !process.isFrozen())

  /** Work of a process: it may never be answered, as when the process dies. */
  const begin = (work: Promise<unknown>): void => void work.catch((error: unknown) => wrong.push(String(error)))

  const boot = async (name: string): Promise<void> => {
    const process = world.createProcess()
    const environment = { ...createTestEnvironment(), now, random, monotonic: world.now }
    const worker = await createWorker({ ...process, keyring, environment, worker: name, vram: CAPACITY, script: { tail: () => null } })
    // Before the first append of its own it is nobody: one that cannot start ends, and is started again.
    running = [...running.filter((one) => one.name !== name), { name, process, worker, incarnation: environment.instance }]
    await worker.start().catch(async () => {
      process.kill()
      return boot(name)
    })
  }

  const send = (by: Running, command: AdmissionCommand): void =>
    begin(by.worker.admission.send({ command, commandId: v7(), correlationId: 'c', actor: 'service' })())

  /** Whoever hears that it has left joins anew. */
  const rejoin = ({ worker, incarnation, name }: Running): void => {
    const known = worker.admission.state().workers.find((one) => one.worker === name)
    if (known?.incarnation !== incarnation) begin(worker.join())
  }

  const speak = ({ worker }: Running): void => {
    const pipeline = pick(worker.pipelines.all.filter((one) => !one.isAborted() && one.finishes.length === 0))
    if (pipeline === undefined) return
    const segment = told.get(pipeline) ?? pipeline.nextSegment
    told.set(pipeline, segment + 1)
    begin(pipeline.final(segment, `words ${segment}`))
  }

  const talk = async (by: Running, liveId: number): Promise<void> => {
    const attached = await by.worker.sessions.attachSender(liveId)()
    if (E.isLeft(attached)) return
    attached.right.configure({})
    attached.right.audio(AUDIO)
    if (chance(0.5)) attached.right.closed('sender_closed')
  }

  const finish = (by: Running, liveId: number): void => begin(by.worker.side.finishLive(owner, liveId)())
  const reconcilers = new Map<Running, ReturnType<typeof reconciling>>()
  const reconcile = (by: Running): void => {
    const mine = reconcilers.get(by) ?? reconciling(by.worker.side.deps)
    reconcilers.set(by, mine)
    begin(mine.round())
  }

  const create = (one: Running): void => {
    const pulled = { audioFormat: 'hls', audioUrl: 'http://h/a', autoStart: true } as const
    const request = requestOf({ model: pick(['m1', 'm2', 'm3']) ?? 'm1', ...(chance(0.7) ? pulled : {}) })
    begin(one.worker.side.createLive(owner, request)())
  }
  const restart = ({ process, name }: Running): void => {
    process.kill()
    begin(boot(name))
  }
  const move = (by: Running, liveId: number): void => {
    const placed = rules.placements().get(liveId)
    if (placed !== undefined) send(by, { type: 'Move', liveId, term: placed.term, to: null, at: now() })
  }
  const suspect = (by: Running, { name: worker, incarnation }: Running): void =>
    send(by, { type: 'Leave', reason: 'lost', worker, incarnation, at: now() })

  /** What one does, to a live or to another, and in how many of a hundred cases. */
  const deeds: ReadonlyArray<readonly [share: number, deed: (one: Running, other: Running, liveId: number) => void]> = [
    [20, create],
    [25, speak],
    [7, (one, _, liveId) => begin(talk(one, liveId))],
    [4, (one, _, liveId) => finish(one, liveId)],
    [10, (_, { process }) => process.freeze(!process.isFrozen())],
    [12, suspect],
    [6, (one, _, liveId) => move(one, liveId)],
    [4, (_, other) => restart(other)],
    [7, rejoin],
    [5, reconcile],
  ]

  const act = (): void => {
    const [one, other] = [pick(awake()), pick(running)]
    const liveId = pick([...rules.placements().keys()]) ?? 0
    let left = random() * 100
    const deed = deeds.find(([share]) => (left -= share) < 0)?.[1]
    if (one === undefined || other === undefined) running.forEach(({ process }) => process.freeze(false))
    else deed?.(one, other, liveId)
  }

  let steps = 0
  const step = async (): Promise<boolean> => {
    steps += 1
    if (steps > MAX_STEPS) throw new Error('the schedule does not come to rest')
    return await world.next()
  }
  /** Until nobody waits for anything. */
  const rest = async (): Promise<void> => {
    for (;;) {
      while (await step());
      const due = world.nextTimer()
      if (due === null) return
      await world.advance(due)
    }
  }

  /** At rest each live runs where it is placed, in the term of its placement, and nowhere else. */
  const judgeRest = (): void => {
    for (const { name, worker: { sessions, pipelines } } of running) {
      for (const liveId of sessions.runs.all()) {
        const placed = rules.placements().get(liveId)
        const runsIn = sessions.runs.termOf(liveId)
        if (placed !== undefined && (placed.worker !== name || placed.term !== runsIn)) wrong.push(`${name} runs live ${liveId} in term ${runsIn}`)
      }
      const stray = pipelines.all.filter((one) => !one.isAborted() && sessions.runs.termOf(one.liveId) === null)
      wrong.push(...stray.map(({ liveId }) => `a pipeline of live ${liveId} runs on at ${name}`))
    }
  }

  return {
    rules, world, wrong, step, judgeRest, chance, random, act,
    begin: async (): Promise<void> => {
      for (const name of NAMES) begin(boot(name))
      await rest()
    },
    /** Nobody is frozen any more, and who has left joins. */
    recover: async (): Promise<void> => {
      running.forEach(({ process }) => process.freeze(false))
      await rest()
      for (let round = 0; round < 3; round++) {
        running.forEach(rejoin)
        await rest()
      }
    },
    /** Ends all lives through one of them. */
    end: async (): Promise<void> => {
      const [last] = running
      if (last === undefined) return
      for (const liveId of rules.placements().keys()) finish(last, liveId)
      for (let round = 0; round < 3; round++) {
        await rest()
        await world.advance(10_000)
        reconcile(last)
      }
      await rest()
      await Promise.all(running.map(async ({ worker }) => worker.close()))
    },
  }
}

/** Runs it; answers what broke. */
export const runSchedule = async ({ seed, actions, ...faults }: Schedule) => {
  const { rules, world, wrong, step, judgeRest, chance, random, act, begin, recover, end } = createWorld(seed)
  await begin()
  world.setFaults(faults)
  for (let count = 0; count < actions && rules.violations().length === 0; count++) {
    act()
    for (let left = Math.floor(random() * 12); left > 0; left--) await step()
    if (chance(0.3)) await world.advance(random() * (chance(0.2) ? 4000 : 60))
  }
  world.setFaults(NO_FAULTS)
  await recover()
  judgeRest()
  await end()
  const held = [...rules.placements().keys()]
  if (held.length > 0) wrong.push(`${held.join()} are never released`)
  const count = (type: string): number => world.log().filter((event) => event.type === type).length
  return {
    wrong: [...rules.violations(), ...wrong],
    takenOver: count('LiveTakenOver'), fenced: count('SegmentsFenced'), segments: rules.segments(),
  }
}
