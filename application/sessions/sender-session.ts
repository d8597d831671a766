import { buffersAreOrdered } from '../../domain/live/settings.ts'
import type { AttachedLive, LiveLifecycle, SenderSession } from '../services.ts'
import type { RunningLive } from './running-live.ts'

/** D42 and D55: wall time for what was heard before FINISH, and before a sender that went away. */
const FINISH_LIMIT = 30_000
const CLOSE_LIMIT = 10_000

interface SenderSessionOptions {
  readonly liveId: number
  readonly live: AttachedLive
  readonly running: RunningLive
  readonly lifecycle: Pick<LiveLifecycle, 'detachSender'>
  /** This sender is gone and the live stays open. */
  readonly detached: () => void
}

/** The rules of one sender (D40, D42, D55) in front of a running live. */
export const createSenderSession = ({ liveId, live, running, lifecycle, detached }: SenderSessionOptions): SenderSession => {
  let configured = false
  let heard = false
  let gone = false

  const leave = (): void => {
    gone = true
    void running.writes.add('detach', lifecycle.detachSender(liveId, live.epoch))
    detached()
  }

  const finishAs = (reason: Parameters<SenderSession['closed']>[0] | 'finish_message', limitMs: number): void => {
    if (gone) return
    gone = true
    void running.finish(limitMs).then(() => running.end({ status: 'finished', reason }))
  }

  return {
    liveId,
    configure: (overrides) => {
      if (gone || !running.takesAudio()) return 'over'
      if (heard) return 'config_too_late'
      const settings = { ...live.config, ...overrides }
      if (!buffersAreOrdered(settings)) return 'invalid'
      configured = true
      running.configure(settings)
      return 'ok'
    },
    audio: (samples) => {
      if (gone || !running.takesAudio()) return 'over'
      if (live.audioFormat !== 'raw') return 'audio_not_expected'
      if (!configured) return 'config_required'
      if (samples.length === 0) return 'ok'
      heard = true
      running.push(samples)
      return 'ok'
    },
    backlogSeconds: running.backlogSeconds,
    onDrained: running.onDrained,
    finish: () => finishAs('finish_message', FINISH_LIMIT),
    closed: (reason) => {
      if (gone) return
      // No socket owns an auto-started source.
      if (reason === 'sender_closed' && live.autoStart && live.audioFormat !== 'raw') leave()
      else finishAs(reason, CLOSE_LIMIT)
    },
    abandoned: () => {
      if (!gone) leave()
    },
  }
}
