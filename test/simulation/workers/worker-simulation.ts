import * as E from 'fp-ts/lib/Either.js'
import { v7 } from 'uuid'
import { createReconciler } from '../../../application/lives/policies/reconcile-lives.ts'
import type { AdmissionCommand } from '../../../domain/admission/decider.ts'
import { embeddedMembers } from '../../../infrastructure/embedded-members.ts'
import { createMemoryKeyring } from '../../support/doubles/memory/keyring.ts'
import { AUDIO } from '../../support/worlds/session-world.ts'
import type { ScriptedPipeline } from '../../support/doubles/scripted/pipeline.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { createRandom } from '../crashes/crash-simulation.ts'
import { createWorkerLogRules } from './worker-log-rules.ts'
import { createWorkerProcesses, NO_FAULTS } from './worker-processes.ts'
import type { AppendFaults, SimulatedWorkerProcess } from './worker-processes.ts'
import { createWorker } from './worker-world.ts'
import { callerOf, requestOf } from '../../unit/application/write-side.ts'

const CAPACITY = 6
const NAMES = ['w1', 'w2', 'w3'] as const
/** What each of them can run. */
const OFFERS = new Map([
  ['w1', new Set(['m1', 'm2', 'm3'])],
  ['w2', new Set(['m1', 'm2'])],
  ['w3', new Set(['m1', 'm3'])],
])
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

/** Three workers on one log, and a process that runs no lives and creates and ends them, whose clocks, reads and appends move as the seed says. */
const createWorld = (seed: number) => {
  const random = createRandom(seed)
  const chance = (share: number): boolean => random() < share
  const pick = <A>(list: ReadonlyArray<A>): A | undefined => list[Math.floor(random() * list.length)]
  const rules = createWorkerLogRules(CAPACITY, OFFERS)
  const world = createWorkerProcesses(random, rules.observe)
  const keyring = createMemoryKeyring()
  const wrong: Array<string> = []
  const owner = callerOf(1, { maxSessions: 1000 })
  let running: ReadonlyArray<Running> = []
  const told = new Map<ScriptedPipeline, number>()

  const now = (): string =>
    new Date(Date.parse('2026-11-21T09:30:00Z') + world.now()).toISOString().replace('Z', '000+00:00')
  const awake = (): ReadonlyArray<Running> => running.filter(({ process }) => !process.isFrozen())

  /** Work of a process: it may never be answered, as when the process dies. */
  const begin = (work: Promise<unknown>): void => void work.catch((error: unknown) => wrong.push(String(error)))

  /** A process among others, which are lost when somebody says so. */
  const open = async (name: string) => {
    const process = world.createProcess()
    const environment = { ...createTestEnvironment(), now, random, monotonic: world.now }
    const members = {
      ...embeddedMembers(
        { name, incarnation: environment.instance },
        { roles: ['worker'], version: '1', speaks: { log: 1, relay: 1 } },
      ),
      ownershipProblem: async () => (chance(0.3) ? 'its beats are not acknowledged' : null),
    }
    const worker = await createWorker({
      ...process,
      keyring,
      environment,
      members,
      watches: false,
      worker: name,
      vram: CAPACITY,
      script: { tail: () => null },
      offering: () => OFFERS,
      takeoverGrace: pick([0, 3000]) ?? 0,
      drainTimeout: pick([0, 300]) ?? 0,
      candidates: ({ needs }) =>
        NAMES.flatMap((one) => (needs.every((model) => OFFERS.get(one)?.has(model)) ? [{ worker: one, rank: 0 }] : [])),
    })
    return { process, worker, environment }
  }
  /** Without engines: it has not joined, and hears nothing. */
  const opened = open('api')

  const boot = async (name: string): Promise<void> => {
    const { process, worker, environment } = await open(name)
    // Before the first append of its own it is nobody: one that cannot start ends, and is started again.
    running = [
      ...running.filter((one) => one.name !== name),
      { name, process, worker, incarnation: environment.instance },
    ]
    await worker.start().catch(async () => {
      process.kill()
      return boot(name)
    })
  }

  const send = (by: Running, command: AdmissionCommand): void =>
    begin(by.worker.admission.send({ command, commandId: v7(), correlationId: 'c', actor: 'service' })())

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
  const reconcilers = new Map<Running, ReturnType<typeof createReconciler>>()
  const reconcile = (by: Running): void => {
    const mine = reconcilers.get(by) ?? createReconciler(by.worker.side.deps)
    reconcilers.set(by, mine)
    begin(mine.round())
  }

  const create = async (one: Running): Promise<void> => {
    const { worker: api } = await opened
    const pulled = { audioFormat: 'hls', audioUrl: 'http://h/a', autoStart: true } as const
    const request = requestOf({ model: pick(['m1', 'm2', 'm3']) ?? 'm1', ...(chance(0.7) ? pulled : {}) })
    begin((chance(0.5) ? one.worker : api).side.createLive(owner, request)())
  }
  const finishByApi = async (liveId: number): Promise<void> =>
    begin((await opened).worker.side.finishLive(owner, liveId)())
  const restart = ({ process, name }: Running): void => {
    // It starts again already: of two runs of a name the register of members ends one.
    if (process.isDead()) return
    process.kill()
    begin(boot(name))
  }
  /** A planned stop, and the next start. */
  const stop = (one: Running): void =>
    begin(one.worker.drain().then(() => restart(one)))
  const move = (by: Running, liveId: number): void => {
    const placed = rules.placements().get(liveId)
    if (placed !== undefined) send(by, { type: 'Move', liveId, term: placed.term, to: null, at: now() })
  }
  const suspect = (by: Running, { name: worker, incarnation }: Running): void =>
    send(by, { type: 'Leave', reason: 'lost', worker, incarnation, at: now() })

  /** What one does, to a live or to another, and in how many of a hundred cases. */
  const deeds: ReadonlyArray<readonly [share: number, deed: (one: Running, other: Running, liveId: number) => void]> = [
    [20, (one) => begin(create(one))],
    [25, speak],
    [7, (one, _, liveId) => begin(talk(one, liveId))],
    [3, (one, _, liveId) => finish(one, liveId)],
    [2, (_, __, liveId) => begin(finishByApi(liveId))],
    [10, (_, { process }) => process.freeze(!process.isFrozen())],
    [12, suspect],
    [6, (one, _, liveId) => move(one, liveId)],
    [4, (_, other) => restart(other)],
    [4, stop],
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
        if (placed !== undefined && (placed.worker !== name || placed.term !== runsIn))
          wrong.push(`${name} runs live ${liveId} in term ${runsIn}`)
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
    /** Nobody is frozen any more, and who was given up has joined anew. */
    recover: async (): Promise<void> => {
      running.forEach(({ process }) => process.freeze(false))
      await rest()
      for (const { name, incarnation } of running)
        if (rules.joined().get(name) !== incarnation) wrong.push(`${name} lives and is no worker`)
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
