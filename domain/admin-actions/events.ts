import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent, type EventOf } from '../shared/event.ts'

/** Records what administrators read and changed on this machine. The metadata of each event names the administrator. */
export const ADMINISTRATION_STREAM = 'administration'

/** An administrator read a list of the sessions of all users or of one user. */
export const LivesListed = defineEvent(
  'LivesListed',
  t.strict({
    /** Null: all users. */
    ownerId: t.union([id, t.null]),
    skip: boundedInteger(0, 2 ** 31),
    limit: boundedInteger(1, 1000),
    /** Ids of the sessions on the page that was shown. */
    liveIds: t.readonlyArray(id),
    at: instant,
  }),
)
export type LivesListed = EventOf<typeof LivesListed>

/**
 * An administrator read one session: its current state, its history, its state after an earlier event (`entry`), or the
 * integrity of its events.
 */
export const LiveViewed = defineEvent(
  'LiveViewed',
  t.strict({
    liveId: id,
    view: t.keyof({ live: null, history: null, entry: null, integrity: null }),
    at: instant,
  }),
)
export type LiveViewed = EventOf<typeof LiveViewed>

/** An administrator removed the folder of a model from this machine. */
export const ModelRemoved = defineEvent('ModelRemoved', t.strict({ name: t.string, at: instant }))

export type AdministrationEvent = LivesListed | LiveViewed | EventOf<typeof ModelRemoved>
