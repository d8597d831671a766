import type { Either } from 'fp-ts/lib/Either.js'
import type { Device, Hypothesis, JobFailed, ModelLoadFailed, SpeechEngine, TranscribeJob } from '../ports/engine.ts'

type Answer = Either<ModelLoadFailed | JobFailed, Hypothesis>

interface Waiting {
  readonly live: number
  readonly deadline: number
  /** The virtual time when it came. */
  readonly since: number
  readonly job: TranscribeJob
  readonly answer: (answer: Answer | null) => void
  readonly broken: (error: unknown) => void
  /** Tells the engine that nobody waits any more. */
  readonly callOff: AbortController
}

/**
 * A job that is no draft comes as if it were due, or its live had been served, so many milliseconds earlier: a draft is only a
 * look that the next one repeats, and must not hold up what stays. No more than that, for a live whose jobs are all of
 * this kind has no right to the engine.
 */
const AHEAD_OF_DRAFTS = 5000

/** An engine whose oldest job is due for so many milliseconds is behind. */
const BEHIND = 1000

/**
 * Shares the engine between lives. While it keeps up, the job whose deadline comes first runs first. Once it is behind,
 * that rule would serve the lives furthest behind and nobody else, and a few lives on a heavy model would hold up all on
 * light ones: then engine time is shared equally (fair queueing by finish times; Demers, Keshav and Shenker, 1989, with
 * the virtual time of Goyal, Vin and Cheng, 1996).
 */
export interface Scheduler {
  /**
   * The engine's answer, null when the live withdrew. A live has one job at a time: a second one replaces the first,
   * which is withdrawn.
   *
   * @param deadline when the text is due, in milliseconds of the monotonic clock
   */
  readonly transcribe: (live: number, deadline: number, job: TranscribeJob) => Promise<Answer | null>
  /** The live is over: its job, waiting or running, answers null at once. */
  readonly withdraw: (live: number) => void
}

/** The jobs for one device. */
const createQueue = (transcribe: SpeechEngine['transcribe'], lanes: () => number, monotonic: () => number): Scheduler => {
  const waiting = new Map<number, Waiting>()
  const running = new Map<number, Waiting>()
  /** The virtual time up to which a live has had its share, and what its last job took. */
  const served = new Map<number, { readonly until: number; readonly took: number }>()
  /** The virtual start of the job that began last. */
  let virtualTime = 0
  /** Jobs in the engine, those of lives that have withdrawn included. */
  let busy = 0

  const startOf = ({ live, since }: Waiting): number => Math.max(since, served.get(live)?.until ?? 0)
  const finishOf = (job: Waiting): number => startOf(job) + (served.get(job.live)?.took ?? 0)

  const run = async (next: Waiting): Promise<void> => {
    const [start, began] = [startOf(next), monotonic()]
    virtualTime = Math.max(virtualTime, start)
    try {
      next.answer(await transcribe(next.job, next.callOff.signal)())
    } catch (error) {
      next.broken(error)
    } finally {
      busy -= 1
      if (running.get(next.live) === next) {
        running.delete(next.live)
        const took = monotonic() - began
        served.set(next.live, { until: start + took, took })
      }
      dispatch()
    }
  }

  const mostUrgent = (): Waiting | undefined => {
    const jobs = [...waiting.values()].filter(({ live }) => !running.has(live))
    const now = monotonic()
    const dueOf = jobs.some(({ deadline }) => now - deadline > BEHIND) ? finishOf : ({ deadline }: Waiting): number => deadline
    const rank = (waiting: Waiting): number => dueOf(waiting) - (waiting.job.isDraft === true ? 0 : AHEAD_OF_DRAFTS)
    return jobs.reduce<Waiting | undefined>((first, job) => (first === undefined || rank(job) < rank(first) ? job : first), undefined)
  }

  const dispatch = (): void => {
    while (busy < lanes()) {
      const next = mostUrgent()
      if (next === undefined) return
      waiting.delete(next.live)
      running.set(next.live, next)
      busy += 1
      void run(next)
    }
  }

  return {
    transcribe: (live, deadline, job) =>
      new Promise((resolve, reject) => {
        waiting.get(live)?.answer(null)
        waiting.delete(live)
        waiting.set(live, { live, deadline, since: virtualTime, job, answer: resolve, broken: reject, callOff: new AbortController() })
        dispatch()
      }),
    withdraw: (live) => {
      waiting.get(live)?.answer(null)
      waiting.delete(live)
      running.get(live)?.answer(null)
      running.get(live)?.callOff.abort()
      running.delete(live)
      served.delete(live)
    },
  }
}

/**
 * Each device has a queue of its own: slow jobs on the CPU hold up nobody on the GPU.
 *
 * @param monotonic milliseconds that only ever grow
 */
export const createScheduler = (engine: Pick<SpeechEngine, 'transcribe' | 'deviceOf'>, monotonic: () => number): Scheduler => {
  /** As the job told that came last. */
  const lanes = new Map<Device['name'], number>()
  const queues = new Map<Device['name'], Scheduler>()
  const queueFor = (model: string): Scheduler => {
    const device = engine.deviceOf(model)
    lanes.set(device.name, device.lanes)
    const queue = queues.get(device.name) ?? createQueue(engine.transcribe, () => lanes.get(device.name) ?? 1, monotonic)
    queues.set(device.name, queue)
    return queue
  }
  return {
    transcribe: (live, deadline, job) => queueFor(job.model).transcribe(live, deadline, job),
    withdraw: (live) => {
      for (const queue of queues.values()) queue.withdraw(live)
    },
  }
}
