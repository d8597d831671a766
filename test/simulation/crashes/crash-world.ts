import * as E from 'fp-ts/lib/Either.js'
import type { Caller } from '../../../application/caller.ts'
import { createAdmissionActor } from '../../../application/admission/admission-actor.ts'
import { joinWorker } from '../../../application/admission/join-worker.ts'
import { reconcileLives } from '../../../application/lives/policies/reconcile-lives.ts'
import { createMemoryKeyring } from '../../support/doubles/memory/keyring.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { silentLogger } from '../../support/doubles/loggers.ts'
import { createRandom, createSimulation } from './crash-simulation.ts'
import type { Faults, SimulatedProcess } from './crash-simulation.ts'
import { createLogRules } from '../../unit/application/lives-log-rules.ts'
import { callerOf, requestOf, writeSideOf } from '../../unit/application/write-side.ts'

const CAPACITY = 24
const MAX_SESSIONS = 6

export interface Scenario extends Faults {
  readonly seed: number
  readonly processes: number
  /** Clients at the same time. */
  readonly atOnce: number
  readonly creates: number
}

interface Running {
  readonly process: SimulatedProcess
  readonly side: ReturnType<typeof writeSideOf>
  readonly reconcile: () => void
}

/** Answers that are final; after any other, and after none, a client may repeat its command. */
const REFUSED = ['QuotaReached', 'InsufficientVram', 'ListenerTokenTaken', 'SenderAlreadyConnected', 'LiveOver']
/** A scenario takes some 3,000. */
const MAX_STEPS = 100_000
const NO_FAULTS: Faults = { crash: 0, unavailable: 0 }

const surely = async (task: () => Promise<E.Either<unknown, void>>): Promise<void> => {
  if (E.isLeft(await task())) await surely(task)
}

/**
 * Processes on one log that die at any step and start again, each with its actor and its reconciler: the worker of that
 * name is the one that joined last.
 */
const createWorld = (seed: number) => {
  const random = createRandom(seed)
  const rules = createLogRules(CAPACITY, MAX_SESSIONS)
  const simulation = createSimulation(random, rules.observe)
  const keyring = createMemoryKeyring()
  const pauses: Array<() => void> = []
  let clock = Date.parse('2026-11-21T09:30:00Z')
  let running: ReadonlyArray<Running> = []
  let isLast = false

  const chance = (share: number): boolean => random() < share
  const pick = <A>(list: ReadonlyArray<A>): A | undefined => list[Math.floor(random() * list.length)]

  const boot = async (process: SimulatedProcess): Promise<void> => {
    const now = (): string => new Date(clock).toISOString().replace('Z', '000+00:00')
    const environment = { ...createTestEnvironment(), now, random }
    let due: () => void = () => undefined
    // Short waits are steps of the simulation; when the reconciler's next round comes, the simulation says.
    const after = (milliseconds: number, task: () => void) => {
      if (milliseconds < 1000) void process.pause().then(task)
      else due = task
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
    const join = joinWorker(
      { admission, environment },
      { name: 'worker-1', incarnation: environment.instance },
      CAPACITY,
    )
    await surely(join)
    await surely(side.start)
    if (isLast) await surely(side.reconcile)

    reconcileLives({ ...side.deps, logger: silentLogger, every: 30_000 })
    running = [...running, { process, side, reconcile: () => due() }]
  }

  const start = async (): Promise<void> => {
    const process = simulation.createProcess()
    void process.died.then(() => {
      running = running.filter((one) => one.process !== process)
      return isLast ? undefined : start()
    })
    await boot(process)
  }

  /** Random steps of all processes, clients and reconcilers until `isDone`, or until a rule is broken. */
  const until = async (isDone: () => boolean): Promise<void> => {
    for (let steps = 0; !isDone() && rules.violations().length === 0; steps++) {
      if (steps > MAX_STEPS) throw new Error('the world does not come to rest')
      const stepped = await simulation.next()
      if (chance(0.02)) clock += Math.floor(random() * 12_000)
      if (chance(0.02)) pick(running)?.reconcile()
      if (!stepped || chance(0.3)) pauses.shift()?.()
    }
  }

  /** Null when the process died first or could not tell the outcome. */
  const ask = async <L extends { readonly _tag: string }, A>(
    request: (one: Running['side']) => Promise<E.Either<L, A>>,
  ) => {
    await new Promise<void>((resolve) => {
      pauses.push(resolve)
    })
    const one = pick(running)
    if (one === undefined) return null
    const answer = await Promise.race([request(one.side), one.process.died.then(() => null)])
    return answer !== null && E.isLeft(answer) && !REFUSED.includes(answer.left._tag) ? null : answer
  }

  return {
    rules,
    simulation,
    chance,
    pick,
    until,
    ask,
    begin: async (processes: number): Promise<void> => {
      for (let count = 0; count < processes; count++) void start()
      await until(() => running.length === processes)
    },
    /** Everybody dies at the same moment; one process starts, and is ready once it has reconciled. */
    restart: async (): Promise<void> => {
      isLast = true
      simulation.setFaults(NO_FAULTS)
      simulation.killAll()
      running = []
      void start()
      await until(() => running.length === 1)
    },
  }
}

/** Creates, starts and finishes lives through that world; answers all that went wrong. */
export const runScenario = async (scenario: Scenario) => {
  const { rules, simulation, chance, pick, until, ask, begin, restart } = createWorld(scenario.seed)
  const mistakes: Array<string> = []
  let done = 0

  const client = async (number: number): Promise<void> => {
    const userId = 1 + (number % 4)
    const listenerToken = chance(0.4) ? (pick(['stage', 'hall', 'foyer']) ?? null) : null
    const request = requestOf({ model: pick(['m1', 'm2', 'm3', 'm4']) ?? 'm1', listenerToken })
    const caller = callerOf(userId, { maxSessions: MAX_SESSIONS })
    const commandId = `create-${number}`
    const create = () => ask((side) => side.createLive(caller, request, commandId)())

    let answer = await create()
    for (let retry = 0; answer === null && retry < 6 && chance(0.8); retry++) answer = await create()
    if (answer === null) return
    const made = rules.liveOf(commandId)
    if (E.isLeft(answer)) {
      if (made !== undefined) mistakes.push(`${commandId} was refused with ${answer.left._tag} and made live ${made}`)
      return
    }
    const { id } = answer.right
    if (made !== id) mistakes.push(`${commandId} was answered live ${id}, the log says ${made}`)
    await use(caller, id)
  }

  /** Sometimes with a sender, sometimes with audio, mostly to its end. */
  const use = async (caller: Caller, id: number): Promise<void> => {
    if (chance(0.3)) await ask((side) => side.lifecycle.attachSender(id)())
    if (chance(0.3)) await ask((side) => side.lifecycle.startLive(id)())
    if (chance(0.1)) return
    let finished = await ask((side) => side.finishLive(caller, id)())
    while (finished === null) finished = await ask((side) => side.finishLive(caller, id)())
    if (!rules.isOver(id)) mistakes.push(`live ${id} was answered as finished and is not`)
  }

  await begin(scenario.processes)
  simulation.setFaults(scenario)
  let begun = 0
  await until(() => {
    while (begun < scenario.creates && begun - done < scenario.atOnce) void client(begun++).then(() => { done += 1 })
    return done === scenario.creates
  })
  await restart()

  const open = rules.open().toSorted((a, b) => a - b)
  const reserved = rules.reserved().toSorted((a, b) => a - b)
  if (String(open) !== String(reserved))
    mistakes.push(`after the restart ${String(reserved)} are reserved and ${String(open)} are open`)
  if (rules.active().length > 0) mistakes.push(`after the restart ${String(rules.active())} are still active`)
  const count = (type: string): number => simulation.log().filter((event) => event.type === type).length
  return {
    wrong: [...rules.violations(), ...mistakes],
    crashes: simulation.crashes(),
    made: count('LiveCreated'),
    fenced: count('LiveAborted'),
    moved: count('Moved'),
  }
}
