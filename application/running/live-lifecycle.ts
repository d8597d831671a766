import { type AdmitSender, admitSender, type AdmitSenderDeps } from '../lives/commands/admit-sender.ts'
import {
  type ChangeVocabulary, changeVocabulary, type DetachSender, detachSender, type StartLive, startLive,
  type StartSource, startSource,
} from '../lives/change-live.ts'
import { type EndLive, endLive, type EndLiveDeps } from '../lives/ending.ts'
import { type RecordSegment, recordSegment } from '../lives/commands/record-segment.ts'
import type { ResolveToken } from '../lives/queries/resolve-token.ts'
import { type StoredFinals, storedFinals } from '../lives/queries/stored-finals.ts'

/** The write side, as sockets and pipelines use it. Each command returns once its event is stored. */
export interface LiveLifecycle {
  readonly resolveToken: ResolveToken
  readonly admitSender: AdmitSender
  readonly detachSender: DetachSender
  readonly startLive: StartLive
  readonly startSource: StartSource
  readonly changeVocabulary: ChangeVocabulary
  readonly endLive: EndLive
  readonly recordSegment: RecordSegment
  readonly storedFinals: StoredFinals
}

export interface LiveLifecycleDeps extends AdmitSenderDeps, EndLiveDeps {
  readonly resolveToken: ResolveToken
}

export const liveLifecycle = (deps: LiveLifecycleDeps): LiveLifecycle => ({
  resolveToken: deps.resolveToken,
  admitSender: admitSender(deps),
  detachSender: detachSender(deps),
  startLive: startLive(deps),
  startSource: startSource(deps),
  changeVocabulary: changeVocabulary(deps),
  endLive: endLive(deps),
  recordSegment: recordSegment(deps),
  storedFinals: storedFinals(deps),
})
