import type * as t from 'io-ts'
import {
  Admitted,
  CapacitySet,
  Moved,
  Released,
  WorkerDraining,
  WorkerJoined,
  WorkerLeft,
  upgradeAdmitted,
} from './admission/events.ts'
import { AdmissionSnapshotTaken, upgradeSnapshot } from './admission/snapshot.ts'
import { LivesListed, LiveViewed, ModelRemoved } from './administration/events.ts'
import { AdministratorAdded, AdministratorRemoved } from './administrators/events.ts'
import {
  ApiTokenActivated,
  ApiTokenDeactivated,
  ApiTokenIssued,
  ApiTokenRenamed,
  ApiTokenRevoked,
  ApiTokenUsed,
} from './api-token/events.ts'
import { LanguageSwitched, ModelListed, ModelSwitched, TranslationPairListed, TranslationPairSwitched } from './catalogue/events.ts'
import { IdempotencyKeyAdmitted, IdempotencyKeyUsed } from './idempotency/events.ts'
import { JobEnded, JobStarted, upgradeJobStarted } from './jobs/events.ts'
import {
  ListenerTokenClaimed,
  LiveAborted,
  LiveCreated,
  LiveDeleted,
  LiveFailed,
  LiveFinished,
  LiveStarted,
  LiveTakenOver,
  SenderAttached,
  SenderDetached,
  SourceStarted,
  VocabularyChanged,
} from './live/events.ts'
import { LoggedOut, LoginFailed, LoginFailuresCleared } from './login/events.ts'
import { ProfileAdded, ProfileChanged, ProfileRemoved } from './profiles/events.ts'
import type { EventDefinition } from './shared/event.ts'
import { IdTaken } from './shared/sequence.ts'
import { SegmentFinalised, SegmentsFenced } from './transcript/events.ts'
import {
  LoginsEnded,
  PasswordChanged,
  PasswordRehashed,
  UserDeleted,
  UserDisabled,
  UserEnabled,
  UserLimitsChanged,
  UsernameClaimed,
  UsernameFreed,
  UserPermissionsChanged,
  UserRegistered,
} from './user/events.ts'

/** An event definition whose data type is known at run time only. */
export interface AnyEventDefinition {
  readonly type: string
  readonly codec: t.Decoder<unknown, object>
  /** Members that are sealed in the store. */
  readonly personal: ReadonlyArray<string>
  /** Name of the key that seals the members of `data` (plain form), absent where nothing is personal. Throws on data of another kind. */
  readonly keyOf?: (data: unknown) => string
}

const erase = <Type extends string, Data extends object, Personal extends keyof Data & string>(
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
  erase(CapacitySet),
  erase(WorkerJoined),
  erase(WorkerDraining),
  erase(WorkerLeft),
  erase(Admitted),
  erase(Moved),
  erase(Released),
  erase(AdmissionSnapshotTaken),
  erase(ApiTokenIssued),
  erase(ApiTokenRenamed),
  erase(ApiTokenDeactivated),
  erase(ApiTokenActivated),
  erase(ApiTokenRevoked),
  erase(ApiTokenUsed),
  erase(ModelListed),
  erase(TranslationPairListed),
  erase(ModelSwitched),
  erase(LanguageSwitched),
  erase(TranslationPairSwitched),
  erase(LivesListed),
  erase(LiveViewed),
  erase(ModelRemoved),
  erase(AdministratorAdded),
  erase(AdministratorRemoved),
  erase(LiveCreated),
  erase(SenderAttached),
  erase(SenderDetached),
  erase(LiveTakenOver),
  erase(VocabularyChanged),
  erase(SourceStarted),
  erase(LiveStarted),
  erase(LiveFinished),
  erase(LiveFailed),
  erase(LiveAborted),
  erase(LiveDeleted),
  erase(ListenerTokenClaimed),
  erase(IdempotencyKeyUsed),
  erase(IdempotencyKeyAdmitted),
  erase(ProfileAdded),
  erase(ProfileChanged),
  erase(ProfileRemoved),
  erase(SegmentFinalised),
  erase(SegmentsFenced),
  erase(UserRegistered),
  erase(PasswordChanged),
  erase(PasswordRehashed),
  erase(LoginsEnded),
  erase(UserLimitsChanged),
  erase(UserPermissionsChanged),
  erase(UserDisabled),
  erase(UserEnabled),
  erase(UserDeleted),
  erase(UsernameClaimed),
  erase(UsernameFreed),
  erase(JobStarted),
  erase(JobEnded),
  erase(LoggedOut),
  erase(LoginFailed),
  erase(LoginFailuresCleared),
  erase(IdTaken),
]

/** Every kind of event that was ever stored. */
export const allEvents: ReadonlyArray<AnyEventDefinition> = definitions

export type EventType = (typeof definitions)[number]['type']

const byType: ReadonlyMap<string, AnyEventDefinition> = new Map(allEvents.map((definition) => [definition.type, definition]))

/** Undefined for a type that was never defined. */
export const definitionOf = (type: string): AnyEventDefinition | undefined => byType.get(type)

type StoredData = Readonly<Record<string, unknown>>

/**
 * One step from an old shape of a type's data to the present one, by type. A step gets the stored form (personal
 * members are envelopes) and must leave the present shape as it is; its golden files stay.
 */
const upgrades: ReadonlyMap<string, (data: StoredData) => StoredData> = new Map([
  [Admitted.type, upgradeAdmitted],
  [AdmissionSnapshotTaken.type, upgradeSnapshot],
  [JobStarted.type, upgradeJobStarted],
])

/** Stored data in its present shape; every reader of stored events calls this before it decodes. */
export const upgrade = (type: string, data: StoredData): StoredData => upgrades.get(type)?.(data) ?? data
