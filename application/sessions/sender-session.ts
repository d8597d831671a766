import { buffersAreOrdered } from '../../domain/live/settings.ts'
import type { AttachedLive, LiveLifecycle, SenderSession } from '../services.ts'
import type { SourcedLive } from './sourced-live.ts'

/** D42 and D55: wall time for what was heard before FINISH, and before a sender that went away. */
const FINISH_LIMIT = 30_000
const CLOSE_LIMIT = 10_000

interface SenderSessionOptions {
  readonly liveId: number
  readonly live: AttachedLive
  readonly running: SourcedLive
  readonly lifecycle: Pick<LiveLifecycle, 'detachSender'>
  /** This sender is gone and the live stays open. */
  readonly detached: () => void
}

/** The rules of one sender (D40, D42, D55) in front of a running live. */
export const createSenderSession = ({ liveId, live, running, lifecycle, detached }: SenderSessionOptions): SenderSession => {
  const isPulled = live.audioFormat !== 'raw'
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
      // Of an auto-started live the audio may have come before the sender.
      if (heard || (isPulled && running.heardSamples() > 0)) return 'config_too_late'
      const settings = { ...live.config, ...overrides }
      if (!buffersAreOrdered(settings)) return 'invalid'
      configured = true
      running.configure(settings)
      if (isPulled) running.startSource()
      return 'ok'
    },
    audio: (samples) => {
      if (gone || !running.takesAudio()) return 'over'
      if (isPulled) return 'audio_not_expected'
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
      if (reason === 'sender_closed' && live.autoStart && isPulled) leave()
      else finishAs(reason, CLOSE_LIMIT)
    },
    abandoned: () => {
      if (!gone) leave()
    },
  }
}
