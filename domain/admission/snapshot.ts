import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'
import { EMPTY_COMMANDS, allCommands, recordCommand } from './commands.ts'
import type { RecentCommands } from './commands.ts'
import { incarnation, megabytes, term } from './events.ts'
import type { AdmissionState } from './state.ts'

/** Holds the state of `admission` every 200 events. A start reads the newest snapshot and only the events after it. */
export const ADMISSION_SNAPSHOT_STREAM = 'snapshot-admission'
/** The stream that early versions used. */
export const EARLIER_SNAPSHOT_STREAM = 'admission-snapshot'

const whole = boundedInteger(0, Number.MAX_SAFE_INTEGER)
const worker = t.strict({ worker: t.string, incarnation, vram: megabytes, isDraining: t.boolean })
/** `worker`, `needs` and `instance` are indexes into `names`. */
const reservation = t.strict({
  liveId: id,
  userId: id,
  worker: t.union([whole, t.null]),
  term,
  vram: megabytes,
  needs: t.union([t.readonlyArray(whole), t.null]),
  instance: whole,
  at: instant,
})
/** Each entry: command id, session id, milliseconds since 1970. */
const commands = t.readonlyArray(t.tuple([t.string, id, whole]))

/**
 * The whole state, up to and including `revision` of `admission`. With 4,000 open sessions it must fit into one append
 * of EventStoreDB (1 MiB), so repeated names are stored once, in `names`.
 */
export const AdmissionSnapshotTaken = defineEvent(
  'AdmissionSnapshotTaken',
  t.strict({
    revision: whole,
    workers: t.readonlyArray(worker),
    names: t.readonlyArray(t.string),
    open: t.readonlyArray(reservation),
    lastLiveId: whole,
    commands,
    earlierCommands: commands,
  }),
)
type Snapshot = EventOf<typeof AdmissionSnapshotTaken>['data']
type Commands = t.TypeOf<typeof commands>

const toCommands = (recent: RecentCommands): Commands =>
  allCommands(recent).map(({ commandId, liveId, at }) => [commandId, liveId, at])

const fromCommands = (list: Commands): RecentCommands =>
  list.reduce((recent, [commandId, liveId, at]) => recordCommand(recent, { commandId, liveId, at }), EMPTY_COMMANDS)

/** Converts a state to a snapshot. `revision`: the last event of `admission` that the state includes. */
export const toSnapshot = (state: AdmissionState, revision: number): Snapshot => {
  const places = new Map<string, number>()
  const placeOf = (name: string): number => {
    const place = places.get(name) ?? places.size
    places.set(name, place)
    return place
  }
  const open = state.open.map((held) => ({
    ...held,
    worker: held.worker === null ? null : placeOf(held.worker),
    needs: held.needs?.map(placeOf) ?? null,
    instance: placeOf(held.instance),
  }))
  return {
    revision,
    workers: state.workers,
    names: [...places.keys()],
    open,
    lastLiveId: state.lastLiveId,
    commands: toCommands(state.commands),
    earlierCommands: toCommands(state.earlierCommands),
  }
}

/**
 * Converts a snapshot to the state that folding the whole log would give. Throws when an index points to no name.
 */
export const fromSnapshot = ({ workers, names, open, lastLiveId, ...recent }: Snapshot): AdmissionState => {
  const nameAt = (place: number): string => {
    const name = names[place]
    if (name === undefined) throw new Error(`the admission snapshot has no name with index ${place}`)
    return name
  }
  return {
    workers,
    open: open.map((held) => ({
      ...held,
      worker: held.worker === null ? null : nameAt(held.worker),
      needs: held.needs?.map(nameAt) ?? null,
      instance: nameAt(held.instance),
    })),
    lastLiveId,
    commands: fromCommands(recent.commands),
    earlierCommands: fromCommands(recent.earlierCommands),
  }
}

/** The snapshot of early versions. `commands`: the create commands of the last 24 hours. */
const earlierSnapshot = t.strict({
  revision: whole,
  capacity: t.readonlyArray(t.strict({ worker: t.string, vram: megabytes })),
  open: t.readonlyArray(
    t.strict({ liveId: id, userId: id, worker: t.string, vram: megabytes, instance: t.string, at: instant }),
  ),
  lastLiveId: whole,
  commands: t.readonlyArray(t.strict({ commandId: t.string, liveId: id, at: instant })),
})

/** Converts a snapshot of an early version to the present shape. Returns any other data unchanged. */
export const upgradeSnapshot = (data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const decoded = earlierSnapshot.decode(data)
  if (E.isLeft(decoded)) return data
  const { revision, capacity, open, lastLiveId, commands: recent } = decoded.right
  const state: AdmissionState = {
    workers: capacity.map((entry) => ({ ...entry, incarnation: null, isDraining: false })),
    open: open.map((held) => ({ ...held, needs: null, term: 1 })),
    lastLiveId,
    commands: EMPTY_COMMANDS,
    earlierCommands: recent.reduce(
      (list, command) => recordCommand(list, { ...command, at: Date.parse(command.at) }),
      EMPTY_COMMANDS,
    ),
  }
  return toSnapshot(state, revision)
}
