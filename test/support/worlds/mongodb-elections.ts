import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import { MongoClient } from 'mongodb'
import { MOVED, OUTRANKED } from '../../../application/ports/documents.ts'
import { eventually } from '../tools/eventually.ts'
import type { MongoDouble } from '../doubles/mongodb/process.ts'

/** Answered requests between two disturbances, so the clients always make progress. */
const ANSWERS_BETWEEN = 8
/** The time for which a deposed primary continues when it answers no request. A real primary steps down within 10 s. */
const DEPOSED_MS = 3000

/** A source of faults for a replica set. */
export interface Disturbance {
  /** Causes the next fault. Resolves when all members work again. `answers`: the number of answered requests so far. */
  readonly next: (answers: () => number) => Promise<void>
  readonly close: () => Promise<void>
}

const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(async () => {
    if (!(await condition())) throw new Error(`still false: ${String(condition)}`)
  }, { timeoutMs: 120_000, pauseMs: 20 })

/** Random elections: the primary steps down, freezes, stops or is deposed. Its unreplicated writes are rolled back. */
export const disturbDouble = (double: MongoDouble, random: () => number): Disturbance => {
  const untilElected = (former: number): Promise<void> =>
    until(async () => ![null, former].includes((await double.state()).primary))

  const someAnswers = async (answers: () => number): Promise<void> => {
    const [begin, before] = [performance.now(), answers()]
    await until(() => answers() > before + 3 || performance.now() > begin + DEPOSED_MS)
  }

  return {
    next: async (answers) => {
      await until(async () => (await double.state()).primary !== null)
      const member = (await double.state()).primary ?? 0
      const electionMs = Math.floor(random() * 300)
      switch (Math.floor(random() * 6)) {
        case 0:
          await double.turn({ turn: 'step-down', electionMs })
          return untilElected(member)
        case 1:
          await double.turn({ turn: 'freeze', member, electionMs })
          await untilElected(member)
          await double.turn({ turn: 'thaw', member, claimMs: electionMs })
          return until(async () => (await double.state()).deposed.length === 0)
        case 2:
          await double.turn({ turn: 'stop', member, electionMs })
          await untilElected(member)
          await double.turn({ turn: 'start', member })
          return undefined
        case 3:
          await double.cutOff()
          await someAnswers(answers)
          return double.rollBack()
        default:
          await double.turn({ turn: 'depose', electionMs })
          await untilElected(member)
          await someAnswers(answers)
          await double.turn({ turn: 'rejoin' })
      }
    },
    close: () => Promise.resolve(),
  }
}

/** Makes the primary of a real replica set of three members step down. */
export const disturbServer = (url: string): Disturbance => {
  const client = new MongoClient(url)
  return {
    next: async () => {
      await client.db('admin').command({ replSetStepDown: 5, secondaryCatchUpPeriodSecs: 2, force: true })
        // A primary that steps down may close the connection.
        .catch(() => undefined)
      await eventually(() => client.db('admin').command({ ping: 1 }), { timeoutMs: 60_000 })
    },
    close: () => client.close(),
  }
}

/** Refusals that a repeated request would get again. */
const FINAL: ReadonlyArray<unknown> = [OUTRANKED, MOVED]

const isUnavailable = (outcome: unknown): boolean => {
  const either = outcome as Either<{ readonly _tag?: string }, unknown>
  return E.isLeft(either) && !FINAL.includes(either.left) && (either.left._tag ?? '').endsWith('Unavailable')
}

/** Causes one fault after another until it is stopped. */
export const createDisturbances = (disturbance: Disturbance) => {
  let [answers, turns, isStopping] = [0, 0, false]
  const run = async (): Promise<void> => {
    for (;;) {
      const before = answers
      await eventually(() => {
        if (!isStopping && answers < before + ANSWERS_BETWEEN) throw new Error('too few answers since the last fault')
      }, { timeoutMs: 3_600_000 })
      if (isStopping) return
      await disturbance.next(() => answers)
      turns += 1
    }
  }
  const running = run()
  // `stop` reports a failure.
  running.catch(() => undefined)

  /** Wraps a port: each request is repeated until the store is available, as the users of the port do. */
  const retrying = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return (...args: ReadonlyArray<unknown>): unknown => {
          const request: unknown = Reflect.apply(method, target, args)
          if (typeof request !== 'function') return request
          return async () => {
            let attempt = request as () => Promise<unknown>
            for (;;) {
              const outcome = await attempt()
              if (!isUnavailable(outcome)) {
                answers += 1
                return outcome
              }
              attempt = Reflect.apply(method, target, args) as () => Promise<unknown>
            }
          }
        }
      },
    })

  return {
    retrying,
    /** Counts an answer to a request that was sent in another way. */
    answered: (): void => void (answers += 1),
    /** The number of faults so far. */
    turns: (): number => turns,
    /** Ends the faults and waits until all members work. Rejects when a fault did not end. */
    stop: async (): Promise<void> => {
      isStopping = true
      await running
      await disturbance.close()
    },
  }
}

export type Disturbances = ReturnType<typeof createDisturbances>
