import * as E from 'fp-ts/lib/Either.js'
import { v7 } from 'uuid'
import { createReconciler } from '../../../application/lives/policies/reconciler.ts'
import type { AdmissionCommand } from '../../../domain/admission/decider.ts'
import { createMemoryKeyring } from '../../support/doubles/memory/keyring.ts'
import { AUDIO } from '../../support/worlds/session-world.ts'
import type { ScriptedPipeline } from '../../support/doubles/scripted/pipeline.ts'
import { embeddedMembers } from '../../../infrastructure/embedded-members.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { createRandom } from '../crashes/crash-simulation.ts'
import { createWorkerLogRules } from './worker-log-rules.ts'
import { createWorkerProcesses, type SimulatedWorkerProcess } from './worker-processes.ts'
import { createWorker } from './worker-world.ts'
import { callerOf, requestOf } from '../../support/worlds/write-side.ts'

const CAPACITY = 6
const NAMES = ['w1', 'w2', 'w3'] as const
/** The models of each worker. */
const OFFERS = new Map([
  ['w1', new Set(['m1', 'm2', 'm3'])],
  ['w2', new Set(['m1', 'm2'])],
  ['w3', new Set(['m1', 'm3'])],
])
const MAX_STEPS = 20_000

interface Running {
  readonly name: string
  readonly process: SimulatedWorkerProcess
  readonly worker: Awaited<ReturnType<typeof createWorker>>
  readonly incarnation: string
}

/** Simulates three workers on one log and an API process without engines. The seed decides all interleavings. */
export const createSimulatedWorkers = (seed: number) => {
  const random = createRandom(seed)
  const chance = (share: number): boolean => random() < share
  const pick = <A>(list: ReadonlyArray<A>): A | undefined => list[Math.floor(random() * list.length)]
  const rules = createWorkerLogRules(CAPACITY, OFFERS)
  const world = createWorkerProcesses(random, rules.observe)
  const keyring = createMemoryKeyring()
  const problems: Array<string> = []
  const owner = callerOf(1, { maxSessions: 1000 })
  let running: ReadonlyArray<Running> = []
  const nextSegments = new Map<ScriptedPipeline, number>()

  const now = (): string =>
    new Date(Date.parse('2026-11-21T09:30:00Z') + world.now()).toISOString().replace('Z', '000+00:00')
  const awake = (): ReadonlyArray<Running> => running.filter(({ process }) => !process.isFrozen())

  /** Starts work in the background. When its process dies, the work never completes. */
  const inBackground = (work: Promise<unknown>): void =>
    void work.catch((error: unknown) => problems.push(String(error)))

  /** Creates a process. A member counts as lost only after `suspect`. */
  const open = async (name: string) => {
    const process = world.createProcess()
    const environment = { ...createTestEnvironment(), now, random, monotonic: world.now }
    const members = {
      ...embeddedMembers(
        { name, incarnation: environment.instance },
        { roles: ['worker'], version: '1', speaks: { log: 1, relay: 1 } },
      ),
      ownershipProblem: async () => (chance(0.3) ? 'its heartbeats are not acknowledged' : null),
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
      // Sometimes an older process runs, which does not know this event.
      knowsRestart: () => chance(0.8),
      takeoverGrace: pick([0, 3000]) ?? 0,
      drainTimeout: pick([0, 300]) ?? 0,
      candidates: ({ needs }) =>
        NAMES.flatMap((name) =>
          needs.every((model) => OFFERS.get(name)?.has(model)) ? [{ worker: name, rank: 0 }] : [],
        ),
    })
    return { process, worker, environment }
  }
  /** The API process: it never joins as a worker and follows no events. */
  const api = open('api')

  const boot = async (name: string): Promise<void> => {
    const { process, worker, environment } = await open(name)
    // A process that fails to start is killed and started again.
    running = [
      ...running.filter((entry) => entry.name !== name),
      { name, process, worker, incarnation: environment.instance },
    ]
    await worker.start().catch(async () => {
      process.kill()
      return boot(name)
    })
  }

  const send = (by: Running, command: AdmissionCommand): void =>
    inBackground(by.worker.admission.send({ command, commandId: v7(), correlationId: 'c', actor: 'service' }))

  const speak = ({ worker }: Running): void => {
    const isRunning = (candidate: ScriptedPipeline) => !candidate.isAborted() && candidate.finishes.length === 0
    const pipeline = pick(worker.pipelines.all.filter(isRunning))
    if (pipeline === undefined) return
    const segment = nextSegments.get(pipeline) ?? pipeline.nextSegment
    nextSegments.set(pipeline, segment + 1)
    inBackground(pipeline.final(segment, `words ${segment}`))
  }

  const talk = async (by: Running, liveId: number): Promise<void> => {
    const attached = await by.worker.sessions.attachSender(liveId)
    if (E.isLeft(attached)) return
    attached.right.configure({})
    attached.right.audio(AUDIO)
    if (chance(0.5)) attached.right.closed('sender_closed')
  }

  const finish = (by: Running, liveId: number): void => inBackground(by.worker.side.finishLive(owner, liveId))
  const reconcilers = new Map<Running, ReturnType<typeof createReconciler>>()
  const reconcile = (by: Running): void => {
    const reconciler = reconcilers.get(by) ?? createReconciler(by.worker.side.deps)
    reconcilers.set(by, reconciler)
    inBackground(reconciler.round())
  }

  const create = async (by: Running): Promise<void> => {
    const { worker: apiWorker } = await api
    const urlSource = { audioFormat: 'hls', audioUrl: 'http://h/a', autoStart: true } as const
    const request = requestOf({ model: pick(['m1', 'm2', 'm3']) ?? 'm1', ...(chance(0.7) ? urlSource : {}) })
    inBackground((chance(0.5) ? by.worker : apiWorker).side.createLive(owner, request))
  }
  const finishByApi = async (liveId: number): Promise<void> =>
    inBackground((await api).worker.side.finishLive(owner, liveId))
  const restart = ({ process, name }: Running): void => {
    // The restart is already running: only one process may have a name.
    if (process.isDead()) return
    process.kill()
    inBackground(boot(name))
  }
  /** Drains and restarts the process. */
  const stop = (by: Running): void =>
    inBackground(by.worker.drain().then(() => restart(by)))
  const move = (by: Running, liveId: number): void => {
    const placed = rules.placements().get(liveId)
    if (placed !== undefined) send(by, { type: 'Move', liveId, term: placed.term, to: null })
  }
  const suspect = (by: Running, { name: worker, incarnation }: Running): void =>
    send(by, { type: 'Leave', reason: 'lost', worker, incarnation })

  type Action = (process: Running, other: Running, liveId: number) => void
  /** The possible actions with their probability in percent. */
  const actions: ReadonlyArray<readonly [percent: number, action: Action]> = [
    [20, (process) => inBackground(create(process))],
    [25, speak],
    [7, (process, _, liveId) => inBackground(talk(process, liveId))],
    [3, (process, _, liveId) => finish(process, liveId)],
    [2, (_, __, liveId) => inBackground(finishByApi(liveId))],
    [10, (_, { process }) => process.freeze(!process.isFrozen())],
    [12, suspect],
    [6, (process, _, liveId) => move(process, liveId)],
    [4, (_, other) => restart(other)],
    [4, stop],
    [5, reconcile],
  ]

  const act = (): void => {
    const [process, other] = [pick(awake()), pick(running)]
    const liveId = pick([...rules.placements().keys()]) ?? 0
    let remaining = random() * 100
    const action = actions.find(([percent]) => (remaining -= percent) < 0)?.[1]
    if (process === undefined || other === undefined) running.forEach(({ process }) => process.freeze(false))
    else action?.(process, other, liveId)
  }

  let steps = 0
  const step = async (): Promise<boolean> => {
    steps += 1
    if (steps > MAX_STEPS) throw new Error('the schedule does not finish')
    return await world.next()
  }
  /** Runs until no step and no timer is left. */
  const rest = async (): Promise<void> => {
    for (;;) {
      while (await step());
      const due = world.nextTimer()
      if (due === null) return
      await world.advance(due)
    }
  }

  /** Checks that each session runs only on its assigned worker and in the assigned term. */
  const checkPlacements = (): void => {
    for (const { name, worker: { sessions, pipelines } } of running) {
      for (const liveId of sessions.runs.all()) {
        const placed = rules.placements().get(liveId)
        const term = sessions.runs.termOf(liveId)
        if (placed !== undefined && (placed.worker !== name || placed.term !== term))
          problems.push(`${name} runs session ${liveId} in term ${term}`)
      }
      const stray = pipelines.all.filter((entry) => !entry.isAborted() && sessions.runs.termOf(entry.liveId) === null)
      problems.push(...stray.map(({ liveId }) => `a pipeline of session ${liveId} still runs on ${name}`))
    }
  }

  return {
    rules, world, problems, step, checkPlacements, chance, random, act,
    begin: async (): Promise<void> => {
      for (const name of NAMES) inBackground(boot(name))
      await rest()
    },
    /** Thaws all processes and checks that each worker has joined again. */
    recover: async (): Promise<void> => {
      running.forEach(({ process }) => process.freeze(false))
      await rest()
      for (const { name, incarnation } of running)
        if (rules.joined().get(name) !== incarnation) problems.push(`${name} runs but has not joined`)
    },
    /** Ends all sessions through one worker. */
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
