import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, StoredEvent } from '../../../application/ports/event-store.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'

/** A small random generator (mulberry32), so that a run repeats by its seed. */
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
  /** Share of the steps at which the process dies: before or after the step took effect, as often. */
  readonly crash: number
  /** Share of the steps that answer StoreUnavailable, as often with as without effect. */
  readonly unavailable: number
}

/** One simulated process: what it waits for never comes once it has died. */
export interface SimulatedProcess {
  readonly store: EventStore
  readonly pause: () => Promise<void>
  readonly died: Promise<void>
}

/**
 * Processes around one log. Every read, append and pause of theirs waits until the simulation picks it, at random, so
 * that all interleavings of steps are met; at each the process may die, or lose the answer.
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
    let dead = false
    let announce: () => void = () => undefined
    const died = new Promise<void>((resolve) => { announce = resolve })
    const die = (): void => {
      if (dead) return
      dead = true
      crashes += 1
      announce()
    }
    kills.push(die)

    /** Never answers in a process that is dead, or dies here. */
    const step = <A>(act: () => Promise<E.Either<{ _tag: string }, A>>, hasOutcome: boolean) =>
      new Promise<E.Either<never, A>>((resolve) => {
        if (dead) return
        waiting.push(() => {
          if (dead) return
          const crash = random() < faults.crash
          const unavailable = random() < faults.unavailable
          const without = (crash || unavailable) && random() < 0.5
          if (without && crash) return die()
          const lost = E.left({ _tag: 'StoreUnavailable', reason: 'simulated' }) as E.Either<never, A>
          if (without) return resolve(lost)
          void act().then((outcome) => {
            if (hasOutcome) observe()
            if (crash) return die()
            return resolve(unavailable ? lost : (outcome as E.Either<never, A>))
          })
        })
      })

    return {
      store: {
        ...store,
        append: (stream, expected, events) => () => step(store.append(stream, expected, events), true),
        read: (stream, options) => () => step(store.read(stream, options), false),
        setMetadata: (stream, metadata) => () => step(store.setMetadata(stream, metadata), true),
      },
      pause: async () => { await step(async () => E.right(undefined), false) },
      died,
    }
  }

  /** Lets the microtasks run out. */
  const settle = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve) })

  return {
    createProcess,
    setFaults: (next: Faults): void => { faults = next },
    crashes: (): number => crashes,
    killAll: (): void => { for (const kill of kills) kill() },
    log: store.allEvents,
    /** Runs one step, chosen at random; false when nobody waits for any. */
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
