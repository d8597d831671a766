import * as E from 'fp-ts/lib/Either.js'
import { Admitted, LiveIdsSkipped } from '../../domain/admission/events.ts'
import {
  ApiTokenActivated, ApiTokenDeactivated, ApiTokenIssued, ApiTokenRevoked,
} from '../../domain/api-token/events.ts'
import { AdministratorAdded, AdministratorRemoved } from '../../domain/administrators/events.ts'
import { ModelListed, TranslationPairListed } from '../../domain/catalogue/events.ts'
import { ListenerTokenClaimed, LiveCreated, LiveDeleted, LiveFailed, LiveFinished } from '../../domain/live/events.ts'
import { eventReader, isOfKnownType, readEvent } from '../../domain/read-event.ts'
import { LogRestored } from '../../domain/restores/events.ts'
import { IdTaken, type SequenceKind, sequenceStream } from '../../domain/shared/sequence.ts'
import {
  PasswordChanged, UserDeleted, UserDisabled, UserEnabled, UserRegistered, userStream,
} from '../../domain/user/events.ts'
import type { StoredEvent } from '../ports/event-store.ts'

/** Kinds of ids that are never given out twice. */
export type IdKind = SequenceKind | 'live'

const definitions = [
  IdTaken, Admitted, LiveIdsSkipped, LogRestored, UserRegistered, UserDeleted, UserDisabled, UserEnabled,
  PasswordChanged, LiveCreated, LiveFinished, LiveFailed, LiveDeleted, ApiTokenIssued, ApiTokenDeactivated,
  ApiTokenActivated, ApiTokenRevoked, ListenerTokenClaimed, ModelListed, TranslationPairListed,
  AdministratorAdded, AdministratorRemoved,
] as const
const types: ReadonlySet<string> = new Set(definitions.map(({ type }) => type))
const read = eventReader(definitions)

type Read = NonNullable<ReturnType<typeof read>>

/** An API token that works. */
interface ActiveToken {
  readonly tokenId: number
  readonly userId: number
}

/** The part of an event that is written again. A log may contain millions of them. */
export type Repeatable = Pick<StoredEvent, 'stream' | 'type' | 'data' | 'position'>

/** What a restore needs to know of a log. Users and sessions have the names of their streams: `user-3`, `live-7`. */
export interface History {
  /** The highest id of a kind that the log gave out or skipped. */
  readonly lastId: (kind: IdKind) => number
  /** Number of ids of a kind that the log gave out. */
  readonly taken: (kind: SequenceKind) => number
  /** Users, sessions and API tokens that were created and not deleted. */
  readonly present: ReadonlySet<string>
  /** Users and sessions that were deleted. */
  readonly deleted: ReadonlySet<string>
  readonly activeTokens: ReadonlyMap<string, ActiveToken>
  readonly administrators: ReadonlySet<string>
  /** Sessions that were created and have not ended. */
  readonly open: ReadonlySet<string>
  /** The ends of sessions. */
  readonly ends: ReadonlyMap<string, Repeatable>
  /** The last event about each right, by the name of the right. */
  readonly rights: ReadonlyMap<string, StoredEvent>
}

/** Returns the name of the right that an event gives or takes away. Undefined for all other events. */
const rightOf = ({ stream }: StoredEvent, event: Read): string | undefined => {
  switch (event.type) {
    case 'UserDisabled':
    case 'UserEnabled':
      return `${stream} access`
    case 'PasswordChanged':
      return `${stream} password`
    case 'ApiTokenDeactivated':
    case 'ApiTokenActivated':
    case 'ApiTokenRevoked':
    case 'ListenerTokenClaimed':
      return stream
    case 'ModelListed':
      return `model ${event.data.modelId}`
    case 'TranslationPairListed':
      return `pair ${event.data.pairId}`
    default:
      return undefined
  }
}

/** Returns why an event cannot be understood, or null. Events of known types that a restore does not need are fine. */
const problemOf = (event: StoredEvent): string | null => {
  const place = `revision ${event.revision} of ${event.stream}`
  if (!isOfKnownType(event)) return `${place} (${event.type}) belongs to a newer version`
  return types.has(event.type) && E.isLeft(readEvent(event)) ? `${place} is damaged` : null
}

/** Collects the history of a log from its events, in their order. */
export const createHistory = () => {
  const taken = new Map<string, number>()
  const present = new Set<string>()
  const deleted = new Set<string>()
  const activeTokens = new Map<string, ActiveToken>()
  const administrators = new Set<string>()
  const open = new Set<string>()
  const ends = new Map<string, Repeatable>()
  const rights = new Map<string, StoredEvent>()
  let offsets: LogRestored['data']['idOffsets'] | null = null
  let lastLiveId = 0

  const observeIds = (event: Read, { stream, revision }: StoredEvent): void => {
    switch (event.type) {
      case 'IdTaken':
        return void taken.set(stream, revision + 1)
      case 'Admitted':
        lastLiveId = Math.max(lastLiveId, event.data.liveId)
        return
      case 'LiveIdsSkipped':
        lastLiveId = Math.max(lastLiveId, event.data.through)
        return
      case 'LogRestored':
        offsets = event.data.idOffsets
        return
      default:
    }
  }

  const observeNames = (event: Read, { stream, type, data, position }: StoredEvent): void => {
    switch (event.type) {
      case 'AdministratorAdded':
        return void administrators.add(userStream(event.data.userId))
      case 'AdministratorRemoved':
        return void administrators.delete(userStream(event.data.userId))
      case 'UserRegistered':
        return void present.add(stream)
      case 'LiveCreated':
        present.add(stream)
        return void open.add(stream)
      case 'LiveFinished':
      case 'LiveFailed':
        open.delete(stream)
        return void ends.set(stream, { stream, type, data, position })
      case 'UserDeleted':
      case 'LiveDeleted':
        present.delete(stream)
        return void deleted.add(stream)
      case 'ApiTokenIssued':
        present.add(stream)
        return void activeTokens.set(stream, { tokenId: event.data.tokenId, userId: event.data.userId })
      case 'ApiTokenActivated':
        return void activeTokens.set(stream, { tokenId: event.data.tokenId, userId: event.data.userId })
      case 'ApiTokenDeactivated':
      case 'ApiTokenRevoked':
        return void activeTokens.delete(stream)
      default:
    }
  }

  const takenOf = (kind: SequenceKind): number => taken.get(sequenceStream(kind)) ?? 0
  const history: History = {
    lastId: (kind) => (kind === 'live' ? lastLiveId : (offsets?.[kind] ?? 0) + takenOf(kind)),
    taken: takenOf,
    present, deleted, activeTokens, administrators, open, ends, rights,
  }
  return {
    history,
    /** Returns why the event cannot be understood, or null. */
    observe: (stored: StoredEvent): string | null => {
      const event = read(stored)
      if (event === undefined) return problemOf(stored)
      observeIds(event, stored)
      observeNames(event, stored)
      const right = rightOf(stored, event)
      if (right !== undefined) rights.set(right, stored)
      return null
    },
  }
}
