import type * as t from 'io-ts'
import * as admission from './admission/events.ts'
import * as earlierSnapshots from './admission/earlier-snapshots.ts'
import * as admissionSnapshots from './admission/snapshot.ts'
import * as administration from './admin-actions/events.ts'
import * as administrators from './administrators/events.ts'
import * as apiTokens from './api-token/events.ts'
import * as catalogue from './catalogue/events.ts'
import * as idempotency from './idempotency/events.ts'
import * as jobs from './jobs/events.ts'
import * as lives from './live/events.ts'
import * as logins from './login/events.ts'
import * as profiles from './profiles/events.ts'
import * as restores from './restores/events.ts'
import * as sequences from './shared/sequence.ts'
import * as snapshots from './shared/snapshot.ts'
import * as transcripts from './transcript/events.ts'
import * as users from './user/events.ts'

const modules = [
  admission, earlierSnapshots, admissionSnapshots, administration, administrators, apiTokens, catalogue, idempotency,
  jobs, lives, logins, profiles, restores, sequences, snapshots, transcripts, users,
]

/** An event definition whose data type is known only at run time. */
export interface AnyEventDefinition {
  readonly type: string
  readonly codec: t.Decoder<unknown, object>
  readonly personal: ReadonlyArray<string>
  readonly keyOf?: (data: unknown) => string
}

type ExportsOf<Module> = Module extends unknown ? Module[keyof Module] : never
export type EventType = Extract<ExportsOf<(typeof modules)[number]>, AnyEventDefinition>['type']

const isDefinition = (exported: unknown): exported is AnyEventDefinition =>
  typeof exported === 'object' && exported !== null && 'codec' in exported && 'personal' in exported

/** All types of events that were ever stored: every definition that one of the modules exports. */
export const allEvents: ReadonlyArray<AnyEventDefinition> =
  modules.flatMap((module): ReadonlyArray<unknown> => Object.values(module)).filter(isDefinition)

const byType = new Map(allEvents.map((definition) => [definition.type, definition]))

/** Returns the definition of an event type, or undefined for an unknown type. */
export const definitionOf = (type: string): AnyEventDefinition | undefined => byType.get(type)

type StoredData = Readonly<Record<string, unknown>>

/**
 * By event type: converts data of an old shape to the present shape. The data is in its stored form (personal members
 * are envelopes). Data that has the present shape must be returned unchanged. Golden files in the tests keep old
 * shapes.
 */
const upgrades: ReadonlyMap<string, (data: StoredData) => StoredData> = new Map([
  [admission.Admitted.type, admission.upgradeAdmitted],
  [earlierSnapshots.AdmissionSnapshotTaken.type, earlierSnapshots.upgradeSnapshot],
  [jobs.JobStarted.type, jobs.upgradeJobStarted],
])

/** Returns stored data in its present shape. Every reader of stored events calls this before decoding. */
export const upgrade = (type: string, data: StoredData): StoredData => upgrades.get(type)?.(data) ?? data
