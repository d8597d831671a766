import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { id, instant } from '../shared/codecs.ts'
import { defineEvent, type EventOf } from '../shared/event.ts'
import { megabytes, term } from './events.ts'
import { commands, createNameTable, entryOf, fromCommands, snapshotWorker, whole } from './snapshot-parts.ts'
import type { AdmissionState } from './state.ts'

/** The stream that the first versions used. */
export const EARLIER_SNAPSHOT_STREAM = 'admission-snapshot'

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
/** The snapshot of versions before format 6, with 160 bytes for each open session. Repeated names are in `names`. */
export const AdmissionSnapshotTaken = defineEvent(
  'AdmissionSnapshotTaken',
  t.strict({
    revision: whole,
    workers: t.readonlyArray(snapshotWorker),
    names: t.readonlyArray(t.string),
    open: t.readonlyArray(reservation),
    lastLiveId: whole,
    commands,
    earlierCommands: commands,
  }),
)
type Snapshot = EventOf<typeof AdmissionSnapshotTaken>['data']

/** Converts a snapshot to the state that folding the whole log would give. Throws when an index points to no name. */
export const fromEarlierSnapshot = ({ workers, names, open, lastLiveId, ...recent }: Snapshot): AdmissionState => {
  const nameAt = entryOf(names, 'name')
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

/** The snapshot of the first versions. `commands`: the create commands of the last 24 hours. */
const earlierSnapshot = t.strict({
  revision: whole,
  capacity: t.readonlyArray(t.strict({ worker: t.string, vram: megabytes })),
  open: t.readonlyArray(
    t.strict({ liveId: id, userId: id, worker: t.string, vram: megabytes, instance: t.string, at: instant }),
  ),
  lastLiveId: whole,
  commands: t.readonlyArray(t.strict({ commandId: t.string, liveId: id, at: instant })),
})

/** Converts a snapshot of the first versions to the shape of AdmissionSnapshotTaken. Returns other data unchanged. */
export const upgradeSnapshot = (data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const decoded = earlierSnapshot.decode(data)
  if (E.isLeft(decoded)) return data
  const { revision, capacity, open, lastLiveId, commands: recent } = decoded.right
  const { placeOf, names } = createNameTable()
  const upgraded = {
    revision,
    workers: capacity.map((entry) => ({ ...entry, incarnation: null, isDraining: false })),
    open: open.map((held) =>
      ({ ...held, worker: placeOf(held.worker), instance: placeOf(held.instance), needs: null, term: 1 })),
    lastLiveId,
    commands: [],
    earlierCommands: recent.map(({ commandId, liveId, at }) => [commandId, liveId, Date.parse(at)]),
  }
  return { ...upgraded, names: names() }
}
