import { SAMPLE_RATE } from '../ports/engine.ts'
import type { PullEnd, Puller, SourceTarget, StartPuller } from '../ports/audio-source.ts'
import type { Logger } from '../ports/environment.ts'
import { afterTimeout } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'
import { startStretch, advanceClock, INITIAL_CLOCK } from './clock/media-clock.ts'

/** Milliseconds before each further attempt. */
const RETRY_DELAYS_MS = [1000, 2000, 4000, 8000, 16_000]
/** After this much audio, earlier failures do not count. */
const STABLE_SAMPLES = 60 * SAMPLE_RATE
/**
 * An attempt has failed after this time without audio. For HLS the limit is at least the duration of three segments.
 */
const SILENCE_LIMIT_MS = 10_000
const SILENCE_LIMIT_SEGMENTS = 3
/** Media that a decoder may read before it finds the first audio of a stretch. */
const PROBING_MS = 15_000
/** Time for the processes to start on a busy machine. */
const START_LIMIT_MS = 60_000
/**
 * The failure that owners see where an address is not public. A more detailed failure (port open, closed or silent)
 * would let them scan our networks through the service. The log messages contain the exact code.
 */
const UNAVAILABLE = 'unavailable'
/** Gaps that are shorter than this are not logged. */
const LOGGED_GAP_SECONDS = 1
/** The source is paused while this much audio waits to be transcribed. */
const FULL_BACKLOG_SECONDS = 30

export interface LiveSourceOptions {
  readonly liveId: number
  readonly startPuller: StartPuller
  readonly target: SourceTarget
  readonly timers: Timers
  /** Returns monotonic milliseconds. */
  readonly monotonic: () => number
  readonly logger: Logger
  /** Called for each process that was started: the first process and its replacements. */
  readonly launched: (pid: number | null, mediaSequence: number | null) => void
  /** `lost`: samples of the source that are missing before `samples`. */
  readonly audio: (samples: Int16Array, lost: number) => void
  /** Called when the audio so far contains this whole HLS segment. `pid`: the process that delivered it. */
  readonly delivered: (mediaSequence: number, pid: number | null) => void
  /** Seconds of audio that wait to be transcribed. */
  readonly backlogSeconds: () => number
  /** Called when the source has ended regularly. */
  readonly completed: () => void
  /**
   * Called when the last attempt failed. The owner sees `cause`: its code, or `unavailable` where a retry could help
   * and the source is not on the public internet.
   */
  readonly failed: (cause: string) => void
}

/** Pulls the source of a session until it ends, with retries. */
export interface LiveSource {
  readonly drained: () => void
  /** Stops the process and resolves after its end. No callback is called after `stop`. */
  readonly stop: () => Promise<void>
}

export const startLiveSource = (options: LiveSourceOptions): LiveSource => {
  const { liveId, startPuller, timers, monotonic, logger } = options
  let { mediaSequence } = options.target
  let puller: Puller | null = null
  let failures = 0
  let samplesSinceFailure = 0
  let clock = INITIAL_CLOCK
  let silenceLimitMs = SILENCE_LIMIT_MS
  let isPaused = false
  /** True when the source has ended in a regular way, and no audio followed. */
  let isInterrupted = false
  let isPulling = false
  let isDamaged = false
  let hasEnded = false
  /** Resolves when all abandoned processes have ended. */
  let stopped: Promise<unknown> = Promise.resolve()
  let cancelRetry: () => void = () => undefined
  let cancelWatch: () => void = () => undefined

  /** Restarts the silence timer. A paused source has no silence timer. */
  const watch = (limit = silenceLimitMs): void => {
    cancelWatch()
    if (!isPaused) cancelWatch = afterTimeout(timers, limit, () => replacePuller('silent'))
  }

  const finish = (notify: () => void): void => {
    hasEnded = true
    cancelWatch()
    cancelRetry()
    notify()
  }

  const tryAgain = (code: string, { retry, isPublic } = { retry: true, isPublic: false }): void => {
    cancelWatch()
    isPulling = false
    const delay = RETRY_DELAYS_MS[failures]
    if (!retry || delay === undefined) {
      logger.warn({ liveId, code, attempts: failures + 1 }, 'a source failed; no more attempts')
      const cause = retry && !isPublic ? UNAVAILABLE : code
      return finish(() => (isInterrupted ? options.completed() : options.failed(cause)))
    }
    failures += 1
    samplesSinceFailure = 0
    logger.info({ liveId, code, attempt: failures, delay }, 'a source failed; trying again')
    cancelRetry = timers.after(delay, pull)
  }

  const ended = (end: PullEnd): void => {
    if (end.kind === 'complete') return finish(options.completed)
    isInterrupted ||= end.kind === 'interrupted'
    if (end.kind === 'interrupted') tryAgain(end.code)
    else tryAgain(end.code, end)
  }

  /** Abandons a process that hangs or has died. The next attempt starts another process. */
  const replacePuller = (code: string): void => {
    const stopping = puller?.stop()
    if (stopping !== undefined) stopped = Promise.all([stopped, stopping])
    puller = null
    isPaused = false
    tryAgain(code)
  }

  const now = (): number => monotonic() / 1000

  /** Returns the number of samples that are missing before `samples`. */
  const lostBefore = (samples: Int16Array, time: number | null): number => {
    const advanced = advanceClock(clock, { length: samples.length / SAMPLE_RATE, time, arrived: now() })
    clock = advanced.clock
    if (advanced.gap >= LOGGED_GAP_SECONDS) logger.info({ liveId, seconds: advanced.gap }, 'audio of a source was lost')
    return Math.round(advanced.gap * SAMPLE_RATE)
  }

  const take = (samples: Int16Array, time: number | null): void => {
    isInterrupted = false
    samplesSinceFailure += samples.length
    if (samplesSinceFailure >= STABLE_SAMPLES) failures = 0
    options.audio(samples, lostBefore(samples, time))
    if (!hasEnded && !isPaused && options.backlogSeconds() >= FULL_BACKLOG_SECONDS) {
      isPaused = true
      puller?.pause()
    }
    watch()
  }

  const launch = (): Puller => {
    const started: Puller = startPuller({
      began: () => { if (!hasEnded && isPulling) watch() },
      stretch: (continuity) => {
        clock = startStretch(clock, continuity, now())
        if (!hasEnded && isPulling) watch(silenceLimitMs + PROBING_MS)
      },
      audio: (samples, time) => { if (!hasEnded) take(samples, time) },
      delivered: (sequence) => {
        mediaSequence = sequence
        if (!hasEnded) options.delivered(sequence, started.pid)
      },
      targetDuration: (seconds) => {
        silenceLimitMs = Math.max(SILENCE_LIMIT_MS, SILENCE_LIMIT_SEGMENTS * seconds * 1000)
      },
      damaged: (seconds) => {
        if (!isDamaged) logger.warn({ liveId, seconds }, 'audio of a source could not be decoded and is left out')
        isDamaged = true
      },
      ended: (end) => { if (!hasEnded) ended(end) },
      died: (reason) => { if (!hasEnded && puller === started) replacePuller(`puller_died ${reason}`) },
    })
    options.launched(started.pid, mediaSequence)
    return started
  }

  const pull = (): void => {
    puller ??= launch()
    silenceLimitMs = SILENCE_LIMIT_MS
    puller.pull({ ...options.target, mediaSequence })
    isPulling = true
    watch(START_LIMIT_MS)
  }

  pull()
  return {
    drained: () => {
      if (hasEnded || !isPaused || options.backlogSeconds() >= FULL_BACKLOG_SECONDS) return
      isPaused = false
      puller?.resume()
      watch()
    },
    stop: async () => {
      if (!hasEnded) finish(() => undefined)
      await Promise.all([stopped, puller?.stop()])
    },
  }
}
