import type { FinishReason } from '../../domain/live/events.ts'
import { buffersAreOrdered } from '../../domain/live/settings.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import { NO_VOCABULARY } from '../../domain/live/vocabulary.ts'
import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import type { AttachedLive } from '../lives/attached-live.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import type { SourcedLive } from './sourced-live.ts'

/** D42 and D55: wall time for what was heard before FINISH, and before a sender that went away. */
const FINISH_LIMIT = 30_000
const CLOSE_LIMIT = 10_000

export type InvalidState = 'config_required' | 'config_too_late' | 'audio_not_expected' | 'over'

/** The sender's side of a live, one for the socket that won it. */
export interface SenderSession {
  readonly liveId: number
  /**
   * Settings of the config frame laid over the live's own; the last one before the first audio wins. After it only what
   * speakers are likely to say may change, by a frame that holds nothing else.
   */
  readonly configure: (
    overrides: Partial<EngineSettings>,
    expected?: GivenVocabulary,
  ) => 'ok' | 'invalid' | InvalidState
  readonly audio: (samples: Int16Array) => 'ok' | InvalidState
  /** Samples of the live: heard so far, and up to which all that was said is in finals that were told, and are stored. */
  readonly progress: () => { readonly heard: number; readonly told: number; readonly stored: number }
  readonly backlogSeconds: () => number
  /** Called whenever the backlog shrank. */
  readonly onDrained: (callback: () => void) => void
  /** FINISH: no more audio, flush (≤ 30 s), then the live finishes; repeats are ignored (D42). */
  readonly finish: () => void
  /** The socket is gone: what arrived is still transcribed (≤ 10 s), then the live finishes (D55). */
  readonly closed: (reason: CloseReason) => void
  /**
   * The socket broke without a close: as `closed`, but the live may first wait for another sender: for as long as lives
   * do, and for `atLeast` milliseconds.
   */
  readonly lost: (atLeast?: number) => void
  /** The handshake never completed: the sender is detached, the live stays as it is, and waits where it had begun. */
  readonly abandoned: (atLeast?: number) => void
}

type CloseReason = Extract<FinishReason, 'sender_closed' | 'audio_too_fast' | 'rate_limited' | 'bad_frames' | 'idle'>

interface SenderSessionOptions {
  readonly liveId: number
  readonly live: AttachedLive
  readonly running: SourcedLive
  readonly lifecycle: Pick<LiveLifecycle, 'detachSender'>
  /** This sender is gone and the live stays open: its place is free. */
  readonly detached: () => void
  /** This sender is gone and the live waits for another, for so many milliseconds. */
  readonly wait: (ms: number, expired: () => void) => void
  /** Milliseconds for which lives wait for a sender that was lost; 0 not at all. */
  readonly grace: number
  /** Samples of the live before the first that runs here. */
  readonly begun: number
  /** The sample of the live with which its audio begins, of one that comes again; null: it goes on where the live stands. */
  readonly from: number | null
}

/** Where a sender's audio goes in that may repeat what the live has heard, or begin behind it. */
const resumed = (running: SourcedLive, begun: number, from: number, prepare: () => void): ((samples: Int16Array) => void) => {
  let at = from
  return (samples) => {
    prepare()
    const heard = begun + running.heardSamples()
    if (at > heard) running.skip(at - heard)
    const known = Math.max(0, heard - at)
    at += samples.length
    if (known < samples.length) running.push(samples.subarray(known))
  }
}

/** Why the live of a sender ends with it. */
type EndReason = CloseReason | 'finish_message'

/** Translators were chosen for the language of the text, which depends on the task. */
const isSameTask = (one: Pick<EngineSettings, 'task'>, other: Pick<EngineSettings, 'task'>): boolean =>
  (one.task ?? 'transcribe') === (other.task ?? 'transcribe')

/** The rules of one sender (D40, D42, D55) in front of a running live. */
export const createSenderSession = ({
  liveId, live, running, lifecycle, detached, wait, grace, begun, from,
}: SenderSessionOptions): SenderSession => {
  const isPulled = live.audioFormat !== 'raw'
  /** No socket owns an auto-started source. */
  const isIndependent = live.autoStart && isPulled
  /** An earlier sender of this very run was lost. */
  const isReturning = !running.isIdle() && !isIndependent
  /** Of what it sends again the live has heard audio: it had been configured. */
  let configured = isReturning || (from ?? 0) > 0
  let heard = false
  let gone = false
  const prepare = (): void => {
    if (running.isIdle()) running.configure(live.config)
  }
  const push = from === null ? running.push : resumed(running, begun, from, prepare)

  /** Takes what is expected where nothing else is to change. */
  const expectAlone = (overrides: Partial<EngineSettings>, expected: GivenVocabulary): boolean => {
    const isAlone = Object.keys(overrides).length === 0 && Object.keys(expected).length > 0
    if (isAlone) running.expect(expected)
    return isAlone
  }

  const detach = (): void => {
    gone = true
    void running.writes.add('detach', lifecycle.detachSender(liveId, live))
  }

  const leave = (): void => {
    detach()
    detached()
  }

  const endAs = (reason: EndReason, limitMs: number): void => {
    void running.finish(limitMs).then(() => running.end({ status: 'finished', reason }))
  }

  const finishAs = (reason: EndReason, limitMs: number): void => {
    if (gone) return
    gone = true
    endAs(reason, limitMs)
  }

  const waitFor = (ms: number): void => {
    detach()
    wait(ms, () => endAs('sender_closed', CLOSE_LIMIT))
  }

  return {
    liveId,
    configure: (overrides, expected = NO_VOCABULARY) => {
      if (gone || running.stage() !== 'open') return 'over'
      // What was set before it was lost holds; it is told the same as at its first coming.
      if (isReturning && !heard && running.heardSamples() > 0) {
        expectAlone(overrides, expected)
        running.announce()
        return 'ok'
      }
      // Of an auto-started live the audio may have come before the sender.
      if (heard || (isPulled && running.heardSamples() > 0))
        return expectAlone(overrides, expected) ? 'ok' : 'config_too_late'
      const settings = { ...live.config, ...overrides }
      if (!buffersAreOrdered(settings) || !isSameTask(settings, live.config)) return 'invalid'
      configured = true
      running.expect(expected)
      running.configure(settings)
      if (isPulled) running.startSource()
      return 'ok'
    },
    audio: (samples) => {
      if (gone || running.stage() !== 'open') return 'over'
      if (isPulled) return 'audio_not_expected'
      if (!configured) return 'config_required'
      if (samples.length === 0) return 'ok'
      heard = true
      push(samples)
      return 'ok'
    },
    progress: () => ({ heard: begun + running.heardSamples(), ...running.settled() }),
    backlogSeconds: running.backlogSeconds,
    onDrained: running.onDrained,
    finish: () => finishAs('finish_message', FINISH_LIMIT),
    closed: (reason) => {
      if (gone) return
      if (reason === 'sender_closed' && isIndependent) leave()
      else finishAs(reason, CLOSE_LIMIT)
    },
    lost: (atLeast = 0) => {
      if (gone) return
      const ms = Math.max(grace, atLeast)
      if (isIndependent || running.stage() === 'over') leave()
      else if (ms === 0) finishAs('sender_closed', CLOSE_LIMIT)
      else waitFor(ms)
    },
    abandoned: (atLeast = 0) => {
      if (gone) return
      const ms = Math.max(grace, atLeast)
      // What has begun does not stay open without anybody who waits for its sender.
      if ((isReturning || (!isIndependent && live.status === 'active')) && ms > 0) waitFor(ms)
      else leave()
    },
  }
}
