import type { Stamped } from '../../../../domain/shared/decider.ts'
import type { LiveCommand } from '../../../../domain/live/commands.ts'
import type { LiveEvent } from '../../../../domain/live/events.ts'
import { after, liveCreated } from '../../../support/events/sample-events.ts'

export const at = after(9000)
/** The common data of the events that are already stored. */
export const earlier = { liveId: 7, userId: 3, at: after(1000) }
/** The common data of the new events that the commands return. */
export const common = { liveId: 7, userId: 3, at }

export const created = liveCreated()
export const autoStarted = liveCreated({
  audioFormat: 'hls',
  audioUrl: 'https://media.example/a.m3u8',
  audioUrlHash: 'h',
  autoStart: true,
})
export const attached = (epoch: number, term = 1): LiveEvent => ({
  type: 'SenderAttached',
  data: { ...earlier, epoch, instance: 'a', term },
})
export const takenOver = (term: number): LiveEvent => ({
  type: 'LiveTakenOver',
  data: { ...earlier, worker: 'gpu-1', term },
})
export const detached = (epoch: number): LiveEvent => ({ type: 'SenderDetached', data: { ...earlier, epoch } })
export const started: LiveEvent = { type: 'LiveStarted', data: earlier }
export const finished: LiveEvent = { type: 'LiveFinished', data: { ...earlier, reason: 'finish_message' } }
export const failed: LiveEvent = { type: 'LiveFailed', data: { ...earlier, code: 'engine_failed', detail: 'gone' } }
export const aborted: LiveEvent = { type: 'LiveAborted', data: { ...earlier, reason: 'orphan' } }
export const source = { pid: 4242, sampleOffset: 0, nextSegment: 1, mediaSequence: null }
export const deleted: LiveEvent = { type: 'LiveDeleted', data: { ...earlier, lastStatus: 'finished' } }

/** One command of each type. */
export const commands = {
  create: { type: 'CreateLive', data: { ...created.data, commandId: 'another' }, at },
  abort: { type: 'AbortLive', ...common, reason: 'orphan' },
  attach: { type: 'AttachSender', instance: 'a', term: 1, at },
  detach: { type: 'DetachSender', epoch: 1, term: 1, at },
  takeOver: { type: 'TakeOverLive', worker: 'gpu-1', term: 2, at },
  changeVocabulary: { type: 'ChangeVocabulary', vocabulary: { hotwords: ['Babbage'] }, term: 1, at },
  startSource: { type: 'StartSource', ...source, term: 1, at },
  start: { type: 'StartLive', term: 1, at },
  finish: { type: 'EndLive', cause: { status: 'finished', reason: 'finish_route' }, at },
  fail: { type: 'EndLiveInTerm', cause: { status: 'error', code: 'source_failed', detail: 'no audio' }, term: 1, at },
  remove: { type: 'DeleteLive', at },
  expire: { type: 'ExpireLive', pendingTimeout: 1000, maxDuration: 1000, now: Date.parse(at), at },
} satisfies Record<string, Stamped<LiveCommand>>
export type CommandName = keyof typeof commands
