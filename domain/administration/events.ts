import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'

/** What administrators looked at, and did to this machine. Who it was says the metadata of the event. */
export const ADMINISTRATION_STREAM = 'administration'

/** A list of the lives of all users, or of one, was shown. */
export const LivesListed = defineEvent(
  'LivesListed',
  t.strict({
    /** Null: of all users. */
    ownerId: t.union([id, t.null]),
    skip: boundedInteger(0, 2 ** 31),
    limit: boundedInteger(1, 1000),
    /** Those that were shown. */
    liveIds: t.readonlyArray(id),
    at: instant,
  }),
)
export type LivesListed = EventOf<typeof LivesListed>

/** One live was looked at: how it stands or stood after an event, its history, or whether that is intact. */
export const LiveViewed = defineEvent(
  'LiveViewed',
  t.strict({
    liveId: id,
    view: t.keyof({ live: null, history: null, entry: null, integrity: null }),
    at: instant,
  }),
)
export type LiveViewed = EventOf<typeof LiveViewed>

/** The folder of a model was removed from this machine. */
export const ModelRemoved = defineEvent('ModelRemoved', t.strict({ name: t.string, at: instant }))

export type AdministrationEvent = LivesListed | LiveViewed | EventOf<typeof ModelRemoved>
