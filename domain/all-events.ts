import type * as t from 'io-ts'
import {
  Admitted, CapacitySet, LiveIdsSkipped, Moved, Released, WorkerDraining, WorkerJoined, WorkerLeft, WorkerRestarted,
  upgradeAdmitted,
} from './admission/events.ts'
import { AdmissionSnapshotTaken, upgradeSnapshot } from './admission/earlier-snapshots.ts'
import { AdmissionSnapshotPacked } from './admission/snapshot.ts'
import { LivesListed, LiveViewed, ModelRemoved } from './admin-actions/events.ts'
import { AdministratorAdded, AdministratorRemoved } from './administrators/events.ts'
import {
  ApiTokenActivated, ApiTokenDeactivated, ApiTokenIssued, ApiTokenRenamed, ApiTokenRevoked, ApiTokenUsed,
} from './api-token/events.ts'
import {
  LanguageSwitched, ModelListed, ModelSwitched, TranslationPairListed, TranslationPairSwitched,
} from './catalogue/events.ts'
import { IdempotencyKeyAdmitted, IdempotencyKeyUsed } from './idempotency/events.ts'
import { JobEnded, JobStarted, upgradeJobStarted } from './jobs/events.ts'
import {
  ListenerTokenClaimed, LiveAborted, LiveCreated, LiveDeleted, LiveFailed, LiveFinished, LiveStarted, LiveTakenOver,
  SenderAttached, SenderDetached, SourceStarted, VocabularyChanged,
} from './live/events.ts'
import { LoggedOut, LoginFailed, LoginFailuresCleared, UnknownLoginFailed } from './login/events.ts'
import { ProfileAdded, ProfileChanged, ProfileRemoved } from './profiles/events.ts'
import { LogRestored } from './restores/events.ts'
import type { EventDefinition } from './shared/event.ts'
import { IdTaken } from './shared/sequence.ts'
import { StateSnapshotTaken } from './shared/snapshot.ts'
import { SegmentFinalised, SegmentsFenced } from './transcript/events.ts'
import {
  LoginsEnded, PasswordChanged, PasswordRehashed, UserDeleted, UserDisabled, UserEnabled, UserLimitsChanged,
  UsernameClaimed, UsernameFreed, UserPermissionsChanged, UserRegistered,
} from './user/events.ts'

/** An event definition whose data type is known only at run time. */
export interface AnyEventDefinition {
  readonly type: string
  readonly codec: t.Decoder<unknown, object>
  readonly personal: ReadonlyArray<string>
  /**
   * Returns the name of the key that encrypts the personal members of unencrypted `data`. Absent when no member is
   * personal. Throws for data of another event type.
   */
  readonly keyOf?: (data: unknown) => string
}

const untyped = <Type extends string, Data extends object, Personal extends keyof Data & string>(
  definition: EventDefinition<Type, Data, Personal>,
): AnyEventDefinition & { readonly type: Type } => {
  const { type, codec, personal, keyOf } = definition
  if (keyOf === undefined) return { type, codec, personal }
  const keyOfAny = (data: unknown): string => {
    if (!codec.is(data)) throw new TypeError(`not the plain data of ${type}`)
    return keyOf(data)
  }
  return { type, codec, personal, keyOf: keyOfAny }
}

const definitions = [
  untyped(CapacitySet),
  untyped(WorkerJoined),
  untyped(WorkerDraining),
  untyped(WorkerLeft),
  untyped(WorkerRestarted),
  untyped(Admitted),
  untyped(Moved),
  untyped(Released),
  untyped(LiveIdsSkipped),
  untyped(AdmissionSnapshotTaken),
  untyped(AdmissionSnapshotPacked),
  untyped(ApiTokenIssued),
  untyped(ApiTokenRenamed),
  untyped(ApiTokenDeactivated),
  untyped(ApiTokenActivated),
  untyped(ApiTokenRevoked),
  untyped(ApiTokenUsed),
  untyped(ModelListed),
  untyped(TranslationPairListed),
  untyped(ModelSwitched),
  untyped(LanguageSwitched),
  untyped(TranslationPairSwitched),
  untyped(LivesListed),
  untyped(LiveViewed),
  untyped(ModelRemoved),
  untyped(AdministratorAdded),
  untyped(AdministratorRemoved),
  untyped(LiveCreated),
  untyped(SenderAttached),
  untyped(SenderDetached),
  untyped(LiveTakenOver),
  untyped(VocabularyChanged),
  untyped(SourceStarted),
  untyped(LiveStarted),
  untyped(LiveFinished),
  untyped(LiveFailed),
  untyped(LiveAborted),
  untyped(LiveDeleted),
  untyped(ListenerTokenClaimed),
  untyped(IdempotencyKeyUsed),
  untyped(IdempotencyKeyAdmitted),
  untyped(ProfileAdded),
  untyped(ProfileChanged),
  untyped(ProfileRemoved),
  untyped(SegmentFinalised),
  untyped(SegmentsFenced),
  untyped(UserRegistered),
  untyped(PasswordChanged),
  untyped(PasswordRehashed),
  untyped(LoginsEnded),
  untyped(UserLimitsChanged),
  untyped(UserPermissionsChanged),
  untyped(UserDisabled),
  untyped(UserEnabled),
  untyped(UserDeleted),
  untyped(UsernameClaimed),
  untyped(UsernameFreed),
  untyped(JobStarted),
  untyped(JobEnded),
  untyped(LoggedOut),
  untyped(LoginFailed),
  untyped(LoginFailuresCleared),
  untyped(UnknownLoginFailed),
  untyped(IdTaken),
  untyped(StateSnapshotTaken),
  untyped(LogRestored),
]

/** All types of events that were ever stored. */
export const allEvents: ReadonlyArray<AnyEventDefinition> = definitions

export type EventType = (typeof definitions)[number]['type']

const byType: ReadonlyMap<string, AnyEventDefinition> =
  new Map(allEvents.map((definition) => [definition.type, definition]))

/** Returns the definition of an event type, or undefined for an unknown type. */
export const definitionOf = (type: string): AnyEventDefinition | undefined => byType.get(type)

type StoredData = Readonly<Record<string, unknown>>

/**
 * By event type: converts data of an old shape to the present shape. The data is in its stored form (personal members
 * are envelopes). Data that has the present shape must be returned unchanged. Golden files in the tests keep old
 * shapes.
 */
const upgrades: ReadonlyMap<string, (data: StoredData) => StoredData> = new Map([
  [Admitted.type, upgradeAdmitted],
  [AdmissionSnapshotTaken.type, upgradeSnapshot],
  [JobStarted.type, upgradeJobStarted],
])

/** Returns stored data in its present shape. Every reader of stored events calls this before decoding. */
export const upgrade = (type: string, data: StoredData): StoredData => upgrades.get(type)?.(data) ?? data
