import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { FinishReason } from '../../domain/live/events.ts'
import { buffersAreOrdered } from '../../domain/live/settings.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import { NO_VOCABULARY } from '../../domain/live/vocabulary.ts'
import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import { unitsOf } from '../budget.ts'
import type { DailyBudget } from '../budget.ts'
import type { AdmittedSender } from '../lives/commands/admit-sender.ts'
import type { Timers } from '../ports/timers.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import type { SourcedLive } from './sourced-live.ts'

/** Longest time to transcribe the received audio after a `finish` message. */
const FINISH_LIMIT_MS = 30_000
/** Longest time to transcribe the received audio after a closed connection. */
const CLOSE_LIMIT_MS = 10_000

/** `rate_limited`: the owner has used up the daily budget, so the vocabulary stays as it is. */
export type InvalidState = 'config_required' | 'config_too_late' | 'audio_not_expected' | 'rate_limited' | 'over'

/** The session of one sender socket. A live session has at most one sender. */
export interface SenderSession {
  readonly liveId: number
  /**
   * Applies the settings of a config frame over the session's settings. The last frame before the first audio counts.
   * After the first audio only the vocabulary may change, in a frame without other members.
   */
  readonly configure: (
    overrides: Partial<EngineSettings>,
    expected?: GivenVocabulary,
  ) => 'ok' | 'invalid' | InvalidState
  readonly audio: (samples: Int16Array) => 'ok' | InvalidState
  /**
   * Numbers of samples of the session. `received`: samples so far. All speech before `sent` is in sent finals. All
   * speech before `stored` is in stored finals.
   */
  readonly progress: () => { readonly received: number; readonly sent: number; readonly stored: number }
  readonly backlogSeconds: () => number
  /** Sets a callback for each time the backlog shrinks. */
  readonly onDrained: (callback: () => void) => void
  /** Takes no more audio, transcribes the received audio (≤ 30 s), then ends the session. Repeated calls do nothing. */
  readonly finish: () => void
  /** Call this when the socket was closed. Transcribes the received audio (≤ 10 s), then ends the session. */
  readonly closed: (reason: CloseReason) => void
  /**
   * Call this when the socket broke without a close frame. The session first waits for another sender: for the
   * configured time, and at least `atLeast` milliseconds. Then it ends as after `closed`.
   */
  readonly lost: (atLeast?: number) => void
  /** Call this when the handshake did not complete. A started session then waits for another sender. */
  readonly abandoned: (atLeast?: number) => void
}

type CloseReason = Extract<FinishReason, 'sender_closed' | 'audio_too_fast' | 'rate_limited' | 'bad_frames' | 'idle'>

interface SenderSessionOptions {
  readonly liveId: number
  readonly sender: Pick<AdmittedSender, 'live' | 'record' | 'recordAfterMs'>
  readonly running: SourcedLive
  readonly timers: Timers
  readonly lifecycle: Pick<LiveLifecycle, 'detachSender'>
  /** Called when the sender has left and the session stays open for the next sender. */
  readonly detached: () => void
  /** Called when the sender has left and the session waits `ms` milliseconds for another sender. */
  readonly wait: (ms: number, expired: () => void) => void
  /** Milliseconds for which a session waits for a lost sender. 0: it does not wait. */
  readonly grace: number
  /** Samples of the session before this process took it over. */
  readonly earlierSamples: number
  /** The sample with which the audio of a returning sender begins. Null: it continues at the present sample. */
  readonly from: number | null
  readonly budget: DailyBudget
}

const sizeOf = (vocabulary: GivenVocabulary): number => Buffer.byteLength(JSON.stringify(vocabulary))

/**
 * Returns a function that takes the audio of a returning sender. It skips repeated samples and leaves a gap for missing
 * samples.
 */
const resumeFrom = (
  running: SourcedLive,
  earlierSamples: number,
  from: number,
  prepare: () => void,
): ((samples: Int16Array) => void) => {
  let at = from
  return (samples) => {
    prepare()
    const received = earlierSamples + running.receivedSamples()
    if (at > received) running.skip(at - received)
    const known = Math.max(0, received - at)
    at += samples.length
    if (known < samples.length) running.push(samples.subarray(known))
  }
}

/** Why a session ends together with its sender. */
type EndReason = CloseReason | 'finish_message'

/** The task cannot change later, because the translators were chosen for the language of its text. */
const isSameTask = (a: Pick<EngineSettings, 'task'>, b: Pick<EngineSettings, 'task'>): boolean =>
  (a.task ?? 'transcribe') === (b.task ?? 'transcribe')

/** Applies the rules for one sender to a running session. */
export const createSenderSession = ({
  liveId, sender: { live, record, recordAfterMs }, running, lifecycle, timers, detached, wait, grace, earlierSamples,
  from, budget,
}: SenderSessionOptions): SenderSession => {
  const isPulled = live.audioFormat !== 'raw'
  /** An auto-started source does not depend on a sender socket. */
  const isIndependent = live.autoStart && isPulled
  /** True when an earlier sender of this session was lost in this process. */
  const isReturning = !running.isIdle() && !isIndependent
  /** A sender that resumes within the audio has already sent its config frame to an earlier worker. */
  let isConfigured = isReturning || (from ?? 0) > 0
  let hasBegun = false
  let hasAudio = false
  let hasLeft = false
  const prepare = (): void => {
    if (running.isIdle()) running.configure(live.config)
  }
  const push = from === null ? running.push : resumeFrom(running, earlierSamples, from, prepare)

  const setVocabulary = (expected: GivenVocabulary): void => {
    if (running.setVocabulary(expected)) budget.charge(live.userId, 1 + unitsOf({ bytes: sizeOf(expected) }))
  }

  const isBeyondBudget = (expected: GivenVocabulary): boolean =>
    Object.keys(expected).length > 0 && budget.waitSeconds(live.userId) > 0

  /** Applies a frame that changes only the vocabulary. Audio never depends on the budget, but this frame does. */
  const applyVocabularyOnly = (overrides: Partial<EngineSettings>, expected: GivenVocabulary) => {
    if (Object.keys(overrides).length > 0 || Object.keys(expected).length === 0) return 'config_too_late'
    if (isBeyondBudget(expected)) return 'rate_limited'
    setVocabulary(expected)
    return 'ok'
  }

  /** Number of this sender within the session. Null until the log has it. */
  let epoch: number | null = null
  let isRecorded = false
  const recordOnce = (): void => {
    cancelRecord()
    if (isRecorded || running.stage() === 'over') return
    isRecorded = true
    void running.writes.add('attach', TE.map((number: number) => { epoch = number })(record))
  }
  const cancelRecord = timers.after(recordAfterMs, recordOnce)

  /** The audio of a session with an audio URL begins with the config frame of its sender. */
  const startSource = (): void => {
    if (!isIndependent) recordOnce()
    running.startSource()
  }

  /** Takes no more frames of this sender. */
  const depart = (): void => {
    hasLeft = true
    cancelRecord()
  }

  const detach = (): void => {
    depart()
    if (!isRecorded) return
    void running.writes.add('detach', async () =>
      epoch === null ? E.right(undefined) : lifecycle.detachSender(liveId, { term: live.term, epoch })())
  }

  const leave = (): void => {
    detach()
    detached()
  }

  const endAs = (reason: EndReason, limitMs: number): void => {
    void running.finish(limitMs).then(() => running.end({ status: 'finished', reason }))
  }

  const finishAs = (reason: EndReason, limitMs: number): void => {
    if (hasLeft) return
    depart()
    endAs(reason, limitMs)
  }

  const waitFor = (ms: number): void => {
    detach()
    wait(ms, () => endAs('sender_closed', CLOSE_LIMIT_MS))
  }

  return {
    liveId,
    configure: (overrides, expected = NO_VOCABULARY) => {
      if (hasLeft || running.stage() !== 'open') return 'over'
      // The earlier settings stay. The sender gets the same answer as at its first connection.
      if (isReturning && !hasAudio && running.receivedSamples() > 0) {
        void applyVocabularyOnly(overrides, expected)
        running.announce()
        return 'ok'
      }
      // An auto-started session may have received audio before its sender.
      if (hasAudio || (isPulled && running.receivedSamples() > 0))
        return applyVocabularyOnly(overrides, expected)
      const settings = { ...live.config, ...overrides }
      if (!buffersAreOrdered(settings) || !isSameTask(settings, live.config)) return 'invalid'
      // Audio never depends on the budget, so the frame with which a sender begins is not refused.
      if (hasBegun && isBeyondBudget(expected)) return 'rate_limited'
      hasBegun = true
      isConfigured = true
      setVocabulary(expected)
      running.configure(settings)
      if (isPulled) startSource()
      return 'ok'
    },
    audio: (samples) => {
      if (hasLeft || running.stage() !== 'open') return 'over'
      if (isPulled) return 'audio_not_expected'
      if (!isConfigured) return 'config_required'
      if (samples.length === 0) return 'ok'
      hasAudio = true
      recordOnce()
      push(samples)
      return 'ok'
    },
    progress: () => ({ received: earlierSamples + running.receivedSamples(), ...running.settledSamples() }),
    backlogSeconds: running.backlogSeconds,
    onDrained: running.onDrained,
    finish: () => finishAs('finish_message', FINISH_LIMIT_MS),
    closed: (reason) => {
      if (hasLeft) return
      if (reason === 'sender_closed' && isIndependent) leave()
      else finishAs(reason, CLOSE_LIMIT_MS)
    },
    lost: (atLeast = 0) => {
      if (hasLeft) return
      const ms = Math.max(grace, atLeast)
      if (isIndependent || running.stage() === 'over') leave()
      else if (ms === 0) finishAs('sender_closed', CLOSE_LIMIT_MS)
      else waitFor(ms)
    },
    abandoned: (atLeast = 0) => {
      if (hasLeft) return
      const ms = Math.max(grace, atLeast)
      // A started session must not stay open without a waiting time for its sender.
      if ((isReturning || (!isIndependent && live.status === 'active')) && ms > 0) waitFor(ms)
      else leave()
    },
  }
}
