import type { Either } from 'fp-ts/lib/Either.js'
import type { Device, Hypothesis, JobFailed, ModelLoadFailed, SpeechEngine, TranscribeJob } from '../ports/engine.ts'

type Answer = Either<ModelLoadFailed | JobFailed, Hypothesis>

interface QueuedJob {
  /** Id of the session. */
  readonly live: number
  /** When the text is due, in milliseconds of the monotonic clock. */
  readonly deadline: number
  /** The virtual time (see `createQueue`) at which the job arrived. */
  readonly since: number
  readonly job: TranscribeJob
  readonly answer: (answer: Answer | null) => void
  readonly fail: (error: unknown) => void
  /** Cancels the job in the engine. */
  readonly abort: AbortController
}

/**
 * A job for finals counts as due this much earlier than a draft, because a delayed draft is replaced by the next draft.
 * The advantage is limited, so a session that requests only finals cannot take the whole engine.
 */
const FINAL_PRIORITY_MS = 5000

/** The engine is overloaded when a job is overdue by more than this. */
const OVERLOADED_MS = 1000

/**
 * Shares the engine between sessions. Normally the job with the earliest deadline runs first. Under overload this rule
 * would serve only the most delayed sessions. A few sessions with a slow model would then delay all others. So under
 * overload the sessions share the engine time equally. The method is fair queueing by finish times (Demers, Keshav and
 * Shenker, 1989) with the virtual time of Goyal, Vin and Cheng (1996).
 */
export interface Scheduler {
  /**
   * Runs a job in the engine. Returns null when the job was withdrawn. A session has only one waiting job: a second job
   * withdraws the first.
   *
   * @param deadline when the text is due, in milliseconds of the monotonic clock
   */
  readonly transcribe: (live: number, deadline: number, job: TranscribeJob) => Promise<Answer | null>
  /** Withdraws the waiting and the running job of a session. Their calls of `transcribe` immediately return null. */
  readonly withdraw: (live: number) => void
}

const createQueue = (
  transcribe: SpeechEngine['transcribe'],
  lanes: () => number,
  monotonic: () => number,
): Scheduler => {
  const waiting = new Map<number, QueuedJob>()
  const running = new Map<number, QueuedJob>()
  /**
   * By session: the virtual time at which its next job may start, and the duration of its last job in milliseconds.
   * The more engine time a session has used, the later it may start.
   */
  const served = new Map<number, { readonly until: number; readonly took: number }>()
  /** The virtual time: the latest virtual start of a job so far, in milliseconds of engine time. */
  let virtualTime = 0
  /** Number of jobs in the engine, including withdrawn jobs. */
  let busy = 0

  const startOf = ({ live, since }: QueuedJob): number => Math.max(since, served.get(live)?.until ?? 0)
  const finishOf = (job: QueuedJob): number => startOf(job) + (served.get(job.live)?.took ?? 0)

  const run = async (next: QueuedJob): Promise<void> => {
    const [start, began] = [startOf(next), monotonic()]
    virtualTime = Math.max(virtualTime, start)
    try {
      next.answer(await transcribe(next.job, next.abort.signal))
    } catch (error) {
      next.fail(error)
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

  const mostUrgent = (): QueuedJob | undefined => {
    const jobs = [...waiting.values()].filter(({ live }) => !running.has(live))
    const now = monotonic()
    const isOverloaded = jobs.some(({ deadline }) => now - deadline > OVERLOADED_MS)
    const dueOf = isOverloaded ? finishOf : ({ deadline }: QueuedJob): number => deadline
    const rank = (queued: QueuedJob): number => dueOf(queued) - (queued.job.isDraft === true ? 0 : FINAL_PRIORITY_MS)
    const earlier = (first: QueuedJob | undefined, job: QueuedJob): QueuedJob =>
      first === undefined || rank(job) < rank(first) ? job : first
    return jobs.reduce<QueuedJob | undefined>(earlier, undefined)
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
        const abort = new AbortController()
        waiting.set(live, { live, deadline, since: virtualTime, job, answer: resolve, fail: reject, abort })
        dispatch()
      }),
    withdraw: (live) => {
      waiting.get(live)?.answer(null)
      waiting.delete(live)
      running.get(live)?.answer(null)
      running.get(live)?.abort.abort()
      running.delete(live)
      served.delete(live)
    },
  }
}

/**
 * Creates one queue for each device, so slow jobs on the CPU do not delay jobs on the GPU.
 *
 * @param monotonic returns monotonic milliseconds
 */
export const createScheduler = (
  engine: Pick<SpeechEngine, 'transcribe' | 'deviceOf'>,
  monotonic: () => number,
): Scheduler => {
  /** Lanes of each device at the time of its newest job. */
  const lanes = new Map<Device['name'], number>()
  const queues = new Map<Device['name'], Scheduler>()
  const queueFor = (model: string): Scheduler => {
    const device = engine.deviceOf(model)
    lanes.set(device.name, device.lanes)
    const lanesOf = (): number => lanes.get(device.name) ?? 1
    const queue = queues.get(device.name) ?? createQueue(engine.transcribe, lanesOf, monotonic)
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
