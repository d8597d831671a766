import { SAMPLE_RATE } from '../ports/engine.ts'
import type { PullEnd, Puller, SourceTarget, StartPuller } from '../ports/audio-source.ts'
import type { Logger } from '../ports/environment.ts'
import { afterLastLook } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'
import { continued, hear, UNHEARD } from './clock/media-clock.ts'

/** D56: milliseconds before each further attempt. */
const RETRY_AFTER = [1000, 2000, 4000, 8000, 16_000]
/** Audio after which earlier failures no longer count. */
const FORGIVEN_AFTER = 60 * SAMPLE_RATE
/** S8: without audio for this long, or for three segments of an HLS source, an attempt has failed. */
const PATIENCE = 10_000
const PATIENCE_SEGMENTS = 3
/** For the processes themselves to start, on a machine that has much else to do. */
const START_PATIENCE = 60_000
/**
 * What owners are told of a source that could not be heard: whether its port was open, closed or silent would make the
 * service scan networks for them. The log has the code.
 */
const UNAVAILABLE = 'unavailable'
/** Seconds: shorter gaps are not told one by one. */
const LOGGED_GAP = 1
/** D41: seconds of audio held before nothing more is taken. */
const FULL_BACKLOG = 30

export interface LiveSourceOptions {
  readonly liveId: number
  readonly startPuller: StartPuller
  readonly target: SourceTarget
  readonly timers: Timers
  /** Milliseconds that only ever grow. */
  readonly monotonic: () => number
  readonly logger: Logger
  /** A process began, or a new one after a death. */
  readonly launched: (pid: number | null, mediaSequence: number | null) => void
  /** `lost`: samples of the source that are missing before these. */
  readonly audio: (samples: Int16Array, lost: number) => void
  /** All of this HLS segment is in the audio so far. */
  readonly heard: (mediaSequence: number) => void
  /** Seconds of audio that wait to be transcribed. */
  readonly backlogSeconds: () => number
  /** The source is over and said so. */
  readonly completed: () => void
  /** Given up; `cause` is for the owner: it says no more than that, unless the owner alone can change it. */
  readonly failed: (cause: string) => void
}

/** Pulls one live's source until it is over, trying again as D56 says. */
export interface LiveSource {
  /** The backlog shrank. */
  readonly drained: () => void
  /** Resolves when the process is gone; nothing is told after the call. */
  readonly stop: () => Promise<void>
}

export const startLiveSource = (options: LiveSourceOptions): LiveSource => {
  const { liveId, startPuller, timers, monotonic, logger } = options
  let { mediaSequence } = options.target
  let puller: Puller | null = null
  let failures = 0
  let heardSinceFailure = 0
  let clock = UNHEARD
  let patience = PATIENCE
  let paused = false
  /** The source itself said that it is over, and nothing was heard since. */
  let interrupted = false
  /** An attempt runs. */
  let pulling = false
  let over = false
  /** Processes that were given up are no more. */
  let gone: Promise<unknown> = Promise.resolve()
  let cancelRetry: () => void = () => undefined
  let cancelWatch: () => void = () => undefined

  /** Not while we do not listen. */
  const watch = (limit = patience): void => {
    cancelWatch()
    if (!paused) cancelWatch = afterLastLook(timers, limit, () => lost('silent'))
  }

  const finish = (tell: () => void): void => {
    over = true
    cancelWatch()
    cancelRetry()
    tell()
  }

  const tryAgain = (code: string, retry: boolean): void => {
    cancelWatch()
    pulling = false
    const delay = RETRY_AFTER[failures]
    if (!retry || delay === undefined) {
      logger.warn({ liveId, code, attempts: failures + 1 }, 'a source was given up')
      return finish(() => (interrupted ? options.completed() : options.failed(retry ? UNAVAILABLE : code)))
    }
    failures += 1
    heardSinceFailure = 0
    logger.info({ liveId, code, attempt: failures, delay }, 'a source failed; trying again')
    cancelRetry = timers.after(delay, pull)
  }

  const ended = (end: PullEnd): void => {
    if (end.kind === 'complete') return finish(options.completed)
    interrupted ||= end.kind === 'interrupted'
    if (end.kind === 'interrupted') tryAgain('interrupted', true)
    else tryAgain(end.code, end.retry)
  }

  /** The process, or what it reads, hangs or is gone: the next attempt gets another one. */
  const lost = (code: string): void => {
    const stopping = puller?.stop()
    if (stopping !== undefined) gone = Promise.all([gone, stopping])
    puller = null
    paused = false
    tryAgain(code, true)
  }

  const now = (): number => monotonic() / 1000

  /** Samples that are missing before these. */
  const lostBefore = (samples: Int16Array, time: number | null): number => {
    const heard = hear(clock, { length: samples.length / SAMPLE_RATE, time, arrived: now() })
    clock = heard.clock
    if (heard.gap >= LOGGED_GAP) logger.info({ liveId, seconds: heard.gap }, 'audio of a source was lost')
    return Math.round(heard.gap * SAMPLE_RATE)
  }

  const take = (samples: Int16Array, time: number | null): void => {
    interrupted = false
    heardSinceFailure += samples.length
    if (heardSinceFailure >= FORGIVEN_AFTER) failures = 0
    options.audio(samples, lostBefore(samples, time))
    if (!over && !paused && options.backlogSeconds() >= FULL_BACKLOG) {
      paused = true
      puller?.pause()
    }
    watch()
  }

  const launch = (): Puller => {
    const mine: Puller = startPuller({
      began: () => { if (!over && pulling) watch() },
      stretch: (continuity) => { clock = continued(clock, continuity, now()) },
      audio: (samples, time) => { if (!over) take(samples, time) },
      heard: (sequence) => {
        mediaSequence = sequence
        if (!over) options.heard(sequence)
      },
      targetDuration: (seconds) => { patience = Math.max(PATIENCE, PATIENCE_SEGMENTS * seconds * 1000) },
      ended: (end) => { if (!over) ended(end) },
      died: (reason) => { if (!over && puller === mine) lost(`puller_died ${reason}`) },
    })
    options.launched(mine.pid, mediaSequence)
    return mine
  }

  const pull = (): void => {
    puller ??= launch()
    patience = PATIENCE
    puller.pull({ url: options.target.url, mediaSequence })
    pulling = true
    watch(START_PATIENCE)
  }

  pull()
  return {
    drained: () => {
      if (over || !paused || options.backlogSeconds() >= FULL_BACKLOG) return
      paused = false
      puller?.resume()
      watch()
    },
    stop: async () => {
      if (!over) finish(() => undefined)
      await Promise.all([gone, puller?.stop()])
    },
  }
}
