import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import { MongoClient } from 'mongodb'
import { MOVED, OUTRANKED } from '../../../application/ports/documents.ts'
import { eventually } from '../tools/eventually.ts'
import type { MongoDouble } from '../doubles/mongodb/process.ts'

/** Answers between two turns: something happens again and again, and there is always time to go on. */
const PACE = 8
/** How long a deposed primary goes on where nobody is answered meanwhile: a real one sees within 10 s that it is alone. */
const ALONE_MS = 3000

/** What befalls a replica set. */
export interface Disturbance {
  /** One more turn; resolves when all members are well again. `answers`: how many requests were answered so far. */
  readonly next: (answers: () => number) => Promise<void>
  readonly close: () => Promise<void>
}

const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(async () => {
    if (!(await condition())) throw new Error(`not yet: ${String(condition)}`)
  }, { timeoutMs: 120_000, pauseMs: 20 })

/** Elections, planned and not, primaries that are deposed, frozen or stopped, and what they alone wrote rolled back. */
export const disturbDouble = (double: MongoDouble, random: () => number): Disturbance => {
  const moved = (from: number): Promise<void> => until(async () => ![null, from].includes((await double.state()).primary))

  const someAnswers = async (answers: () => number): Promise<void> => {
    const [begin, before] = [performance.now(), answers()]
    await until(() => answers() > before + 3 || performance.now() > begin + ALONE_MS)
  }

  return {
    next: async (answers) => {
      await until(async () => (await double.state()).primary !== null)
      const member = (await double.state()).primary ?? 0
      const electionMs = Math.floor(random() * 300)
      switch (Math.floor(random() * 6)) {
        case 0:
          await double.turn({ turn: 'step-down', electionMs })
          return moved(member)
        case 1:
          await double.turn({ turn: 'freeze', member, electionMs })
          await moved(member)
          await double.turn({ turn: 'thaw', member, claimMs: electionMs })
          return until(async () => (await double.state()).deposed.length === 0)
        case 2:
          await double.turn({ turn: 'stop', member, electionMs })
          await moved(member)
          await double.turn({ turn: 'start', member })
          return undefined
        case 3:
          await double.cutOff()
          await someAnswers(answers)
          return double.rollBack()
        default:
          await double.turn({ turn: 'depose', electionMs })
          await moved(member)
          await someAnswers(answers)
          await double.turn({ turn: 'rejoin' })
      }
    },
    close: () => Promise.resolve(),
  }
}

/** The primary of a real set steps down, which asks for a replica set of three. */
export const disturbServer = (url: string): Disturbance => {
  const client = new MongoClient(url)
  return {
    next: async () => {
      await client.db('admin').command({ replSetStepDown: 5, secondaryCatchUpPeriodSecs: 2, force: true })
        // Who steps down may cut the connection.
        .catch(() => undefined)
      await eventually(() => client.db('admin').command({ ping: 1 }), { timeoutMs: 60_000 })
    },
    close: () => client.close(),
  }
}

/** Refusals that say why, and would come again. */
const FINAL: ReadonlyArray<unknown> = [OUTRANKED, MOVED]

const isUnavailable = (outcome: unknown): boolean => {
  const either = outcome as Either<{ readonly _tag?: string }, unknown>
  return E.isLeft(either) && !FINAL.includes(either.left) && (either.left._tag ?? '').endsWith('Unavailable')
}

/** A set that comes to no rest until it is told to; and who asks it, again and again until there is an answer. */
export const createDisturbances = (fate: Disturbance) => {
  let [answers, turns, isOver] = [0, 0, false]
  const run = async (): Promise<void> => {
    for (;;) {
      const before = answers
      await eventually(() => {
        if (!isOver && answers < before + PACE) throw new Error('not yet')
      }, { timeoutMs: 3_600_000 })
      if (isOver) return
      await fate.next(() => answers)
      turns += 1
    }
  }
  const running = run()
  // Whoever stops it hears of it.
  running.catch(() => undefined)

  /** The port of which each request is repeated until the store is there, as its users repeat it. */
  const insistent = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return (...args: ReadonlyArray<unknown>): unknown => {
          const request: unknown = Reflect.apply(method, target, args)
          if (typeof request !== 'function') return request
          return async () => {
            let ask = request as () => Promise<unknown>
            for (;;) {
              const outcome = await ask()
              if (!isUnavailable(outcome)) {
                answers += 1
                return outcome
              }
              ask = Reflect.apply(method, target, args) as () => Promise<unknown>
            }
          }
        }
      },
    })

  return {
    insistent,
    /** Something else was answered. */
    answered: (): void => void (answers += 1),
    turns: (): number => turns,
    /** All members are well from then on; rejects where one never was. */
    stop: async (): Promise<void> => {
      isOver = true
      await running
      await fate.close()
    },
  }
}

export type Disturbances = ReturnType<typeof createDisturbances>
