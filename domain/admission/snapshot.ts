import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'
import { EMPTY_COMMANDS, allCommands, recordCommand } from './commands.ts'
import type { RecentCommands } from './commands.ts'
import { incarnation, megabytes, term } from './events.ts'
import type { AdmissionState } from './state.ts'

/** State and revision of `admission` every 200 events, $maxCount 2: a cold load reads the last one. */
export const ADMISSION_SNAPSHOT_STREAM = 'snapshot-admission'
/** Where versions kept it that did not know that stream. */
export const EARLIER_SNAPSHOT_STREAM = 'admission-snapshot'

const whole = boundedInteger(0, Number.MAX_SAFE_INTEGER)
const worker = t.strict({ worker: t.string, incarnation, vram: megabytes, isDraining: t.boolean })
/** Names stand once for all reservations, which say their places in `names`. */
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
/** Its id, the live, and when in milliseconds since 1970. */
const commands = t.readonlyArray(t.tuple([t.string, id, whole]))

/**
 * The whole state as JSON, with the revision of `admission` that it includes. With 4,000 open lives it must fit into one
 * append of EventStoreDB (1 MiB), so that what many reservations say alike stands there once.
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

/** `revision` is that of the last event of `admission` in the state. */
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

/** Folding on from here gives what folding the whole log gives. Throws on a place where no name stands. */
export const fromSnapshot = ({ workers, names, open, lastLiveId, ...recent }: Snapshot): AdmissionState => {
  const nameAt = (place: number): string => {
    const name = names[place]
    if (name === undefined) throw new Error(`the snapshot of the admissions has no name ${place}`)
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

/** As versions wrote it whose workers did not join: with 24 hours of commands. */
const earlierSnapshot = t.strict({
  revision: whole,
  capacity: t.readonlyArray(t.strict({ worker: t.string, vram: megabytes })),
  open: t.readonlyArray(
    t.strict({ liveId: id, userId: id, worker: t.string, vram: megabytes, instance: t.string, at: instant }),
  ),
  lastLiveId: whole,
  commands: t.readonlyArray(t.strict({ commandId: t.string, liveId: id, at: instant })),
})

/** Leaves all else as it is. */
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
