import { admitSender } from '../lives/commands/admit-sender.ts'
import type { AdmitSender, AdmitSenderDeps } from '../lives/commands/admit-sender.ts'
import { changeVocabulary } from '../lives/commands/change-vocabulary.ts'
import type { ChangeVocabulary } from '../lives/commands/change-vocabulary.ts'
import { detachSender } from '../lives/commands/detach-sender.ts'
import type { DetachSender } from '../lives/commands/detach-sender.ts'
import { endLive } from '../lives/ending.ts'
import type { EndLive, EndLiveDeps } from '../lives/ending.ts'
import { recordSegment } from '../lives/commands/record-segment.ts'
import type { RecordSegment } from '../lives/commands/record-segment.ts'
import { startLive } from '../lives/commands/start-live.ts'
import type { StartLive } from '../lives/commands/start-live.ts'
import { startSource } from '../lives/commands/start-source.ts'
import type { StartSource } from '../lives/commands/start-source.ts'
import type { ResolveToken } from '../lives/queries/resolve-token.ts'
import { storedFinals } from '../lives/queries/stored-finals.ts'
import type { StoredFinals } from '../lives/queries/stored-finals.ts'

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
