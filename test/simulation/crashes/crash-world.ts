import * as E from 'fp-ts/lib/Either.js'
import type { Caller } from '../../../application/caller.ts'
import { createAdmissionActor } from '../../../application/admission/admission-actor.ts'
import { joinWorker } from '../../../application/admission/join-worker.ts'
import { reconcileLives } from '../../../application/lives/policies/reconcile-lives.ts'
import { createMemoryKeyring } from '../../support/doubles/memory/keyring.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { silentLogger } from '../../support/doubles/loggers.ts'
import { createRandom, createSimulation, type Faults, type SimulatedProcess } from './crash-simulation.ts'
import { createLogRules } from './lives-log-rules.ts'
import { callerOf, requestOf, writeSideOf } from '../../support/worlds/write-side.ts'

const CAPACITY = 24
const MAX_SESSIONS = 6

export interface Scenario extends Faults {
  readonly seed: number
  readonly processes: number
  /** The number of simultaneous clients. */
  readonly clients: number
  readonly creates: number
}

interface Running {
  readonly process: SimulatedProcess
  readonly side: ReturnType<typeof writeSideOf>
  readonly reconcile: () => void
}

/** Refusals that are final. After any other answer, or without one, a client may repeat its command. */
const REFUSED = ['QuotaReached', 'InsufficientVram', 'ListenerTokenTaken', 'SenderAlreadyConnected', 'LiveOver']
/** A scenario takes about 3,000 steps. */
const MAX_STEPS = 100_000
const NO_FAULTS: Faults = { crash: 0, unavailable: 0 }

const retry = async (task: () => Promise<E.Either<unknown, void>>): Promise<void> => {
  if (E.isLeft(await task())) await retry(task)
}

/**
 * Simulates processes on one log that die at any step and start again, each with an admission actor and a reconciler.
 * All use one worker name; the process that joined last is the worker.
 */
const createWorld = (seed: number) => {
  const random = createRandom(seed)
  const rules = createLogRules(CAPACITY, MAX_SESSIONS)
  const simulation = createSimulation(random, rules.observe)
  const keyring = createMemoryKeyring()
  const pauses: Array<() => void> = []
  let clock = Date.parse('2026-11-21T09:30:00Z')
  let running: ReadonlyArray<Running> = []
  let isFinalStart = false

  const chance = (share: number): boolean => random() < share
  const pick = <A>(list: ReadonlyArray<A>): A | undefined => list[Math.floor(random() * list.length)]

  const boot = async (process: SimulatedProcess): Promise<void> => {
    const now = (): string => new Date(clock).toISOString().replace('Z', '000+00:00')
    const environment = { ...createTestEnvironment(), now, random }
    let startRound: () => void = () => undefined
    // Short waits are steps of the simulation. The only long wait is the reconciler's pause between two rounds, which
    // `until` ends at random.
    const after = (milliseconds: number, task: () => void) => {
      if (milliseconds < 1000) void process.pause().then(task)
      else startRound = task
      return () => undefined
    }
    const deps = {
      store: process.store,
      keyring,
      environment,
      timers: { after },
      logger: silentLogger,
      snapshotEvery: 10,
    }
    const admission = await createAdmissionActor(deps).catch(() => null)
    if (admission === null) return await boot(process)
    const side = writeSideOf(deps, admission)
    const join = () => joinWorker(
      { admission, environment, knowsRestart: () => chance(0.5) },
      { name: 'worker-1', incarnation: environment.instance },
      CAPACITY,
    )
    await retry(join)
    await retry(side.start)
    if (isFinalStart) await retry(side.reconcile)

    reconcileLives({ ...side.deps, logger: silentLogger, every: 30_000 })
    running = [...running, { process, side, reconcile: () => startRound() }]
  }

  const start = async (): Promise<void> => {
    const process = simulation.createProcess()
    void process.died.then(() => {
      running = running.filter((entry) => entry.process !== process)
      return isFinalStart ? undefined : start()
    })
    await boot(process)
  }

  /** Runs random steps of all processes, clients and reconcilers until `isDone` or until a rule is broken. */
  const until = async (isDone: () => boolean): Promise<void> => {
    for (let steps = 0; !isDone() && rules.violations().length === 0; steps++) {
      if (steps > MAX_STEPS) throw new Error('the simulation does not finish')
      const stepped = await simulation.next()
      if (chance(0.02)) clock += Math.floor(random() * 12_000)
      if (chance(0.02)) pick(running)?.reconcile()
      if (!stepped || chance(0.3)) pauses.shift()?.()
    }
  }

  /** Sends a request to a random process. Null when the process died first or does not know the outcome. */
  const request = async <L extends { readonly _tag: string }, A>(
    send: (side: Running['side']) => Promise<E.Either<L, A>>,
  ) => {
    await new Promise<void>((resolve) => {
      pauses.push(resolve)
    })
    const chosen = pick(running)
    if (chosen === undefined) return null
    const answer = await Promise.race([send(chosen.side), chosen.process.died.then(() => null)])
    return answer !== null && E.isLeft(answer) && !REFUSED.includes(answer.left._tag) ? null : answer
  }

  return {
    rules,
    simulation,
    chance,
    pick,
    until,
    request,
    begin: async (processes: number): Promise<void> => {
      for (let count = 0; count < processes; count++) void start()
      await until(() => running.length === processes)
    },
    /** Kills all processes and starts one, which is ready once it has reconciled. */
    restart: async (): Promise<void> => {
      isFinalStart = true
      simulation.setFaults(NO_FAULTS)
      simulation.killAll()
      running = []
      void start()
      await until(() => running.length === 1)
    },
  }
}

/** Creates, starts and finishes sessions in a simulated world. Returns the broken rules and the counts. */
export const runScenario = async (scenario: Scenario) => {
  const { rules, simulation, chance, pick, until, request, begin, restart } = createWorld(scenario.seed)
  const mistakes: Array<string> = []
  let done = 0

  const client = async (number: number): Promise<void> => {
    const userId = 1 + (number % 4)
    const listenerToken = chance(0.4) ? (pick(['stage', 'hall', 'foyer']) ?? null) : null
    const body = requestOf({ model: pick(['m1', 'm2', 'm3', 'm4']) ?? 'm1', listenerToken })
    const caller = callerOf(userId, { maxSessions: MAX_SESSIONS })
    const commandId = `create-${number}`
    const create = () => request((side) => side.createLive(caller, body, commandId))

    let answer = await create()
    for (let retry = 0; answer === null && retry < 6 && chance(0.8); retry++) answer = await create()
    if (answer === null) return
    const liveId = rules.liveOf(commandId)
    if (E.isLeft(answer)) {
      if (liveId !== undefined)
        mistakes.push(`${commandId} was refused with ${answer.left._tag} and created session ${liveId}`)
      return
    }
    const { id } = answer.right
    if (liveId !== id) mistakes.push(`${commandId} was answered with session ${id}, the log has ${liveId}`)
    await use(caller, id)
  }

  /** Uses the session: sometimes with a sender, sometimes with audio, usually to its end. */
  const use = async (caller: Caller, id: number): Promise<void> => {
    if (chance(0.3)) await request((side) => side.lifecycle.attachSender(id)())
    if (chance(0.3)) await request((side) => side.lifecycle.startLive(id))
    if (chance(0.1)) return
    let finished = await request((side) => side.finishLive(caller, id))
    while (finished === null) finished = await request((side) => side.finishLive(caller, id))
    if (!rules.isOver(id)) mistakes.push(`session ${id} was answered as finished but is open`)
  }

  await begin(scenario.processes)
  simulation.setFaults(scenario)
  let begun = 0
  await until(() => {
    while (begun < scenario.creates && begun - done < scenario.clients) void client(begun++).then(() => { done += 1 })
    return done === scenario.creates
  })
  await restart()

  const open = rules.open().toSorted((a, b) => a - b)
  const reserved = rules.reserved().toSorted((a, b) => a - b)
  if (String(open) !== String(reserved))
    mistakes.push(`after the restart sessions ${String(reserved)} are reserved, but ${String(open)} are open`)
  if (rules.active().length > 0) mistakes.push(`after the restart sessions ${String(rules.active())} are still active`)
  const count = (type: string): number => simulation.log().filter((event) => event.type === type).length
  return {
    problems: [...rules.violations(), ...mistakes],
    crashes: simulation.crashes(),
    created: count('LiveCreated'),
    fenced: count('LiveAborted'),
    moved: count('Moved'),
    restarted: count('WorkerRestarted'),
  }
}
