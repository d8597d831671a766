import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, StoredEvent } from '../../../application/ports/event-store.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'

/** Creates a seeded random generator (mulberry32), so a run can be repeated. */
export const createRandom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export interface Faults {
  /** Fraction of the steps at which the process dies, half of them before the step takes effect. */
  readonly crash: number
  /** Fraction of the steps that answer StoreUnavailable, half of them without an effect. */
  readonly unavailable: number
}

/** A simulated process. After its death its pending steps are never answered. */
export interface SimulatedProcess {
  readonly store: EventStore
  readonly pause: () => Promise<void>
  readonly died: Promise<void>
}

/**
 * Simulates processes on one log. Each read, append and pause waits until the simulation picks it at random, so all
 * interleavings can occur. At each step the process may die or lose the answer.
 */
export const createSimulation = (random: () => number, onAppend: (stream: string, event: StoredEvent) => void) => {
  const store = createMemoryEventStore()
  const waiting: Array<() => void> = []
  const kills: Array<() => void> = []
  let observed = 0
  let crashes = 0
  let faults: Faults = { crash: 0, unavailable: 0 }

  const observe = (): void => {
    const log = store.allEvents()
    for (const event of log.slice(observed)) onAppend(event.stream, event)
    observed = log.length
  }

  const createProcess = (): SimulatedProcess => {
    let isDead = false
    let announce: () => void = () => undefined
    const died = new Promise<void>((resolve) => { announce = resolve })
    const die = (): void => {
      if (isDead) return
      isDead = true
      crashes += 1
      announce()
    }
    kills.push(die)

    /** Waits until the simulation picks this step. It never answers when the process is dead or dies at this step. */
    const step = <A>(act: () => Promise<E.Either<{ _tag: string }, A>>, isWrite: boolean) =>
      new Promise<E.Either<never, A>>((resolve) => {
        if (isDead) return
        waiting.push(() => {
          if (isDead) return
          const crash = random() < faults.crash
          const unavailable = random() < faults.unavailable
          const hasNoEffect = (crash || unavailable) && random() < 0.5
          if (hasNoEffect && crash) return die()
          const unavailableAnswer = E.left({ _tag: 'StoreUnavailable', reason: 'simulated' }) as E.Either<never, A>
          if (hasNoEffect) return resolve(unavailableAnswer)
          void act().then((outcome) => {
            if (isWrite) observe()
            if (crash) return die()
            return resolve(unavailable ? unavailableAnswer : (outcome as E.Either<never, A>))
          })
        })
      })

    return {
      store: {
        ...store,
        append: (stream, expected, events) => step(() => store.append(stream, expected, events), true),
        read: (stream, options) => step(() => store.read(stream, options), false),
        setMetadata: (stream, metadata) => step(() => store.setMetadata(stream, metadata), true),
      },
      pause: async () => { await step(async () => E.right(undefined), false) },
      died,
    }
  }

  /** Runs all pending microtasks. */
  const settle = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve) })

  return {
    createProcess,
    setFaults: (next: Faults): void => { faults = next },
    crashes: (): number => crashes,
    killAll: (): void => { for (const kill of kills) kill() },
    log: store.allEvents,
    /** Runs one random waiting step; false when no step waits. */
    next: async (): Promise<boolean> => {
      await settle()
      if (waiting.length === 0) return false
      const [chosen] = waiting.splice(Math.floor(random() * waiting.length), 1)
      chosen?.()
      await settle()
      return true
    },
  }
}
