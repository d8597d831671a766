import * as t from 'io-ts'
import { boundedInteger, id } from '../shared/codecs.ts'
import { defineEvent, type EventOf } from '../shared/event.ts'
import { megabytes, term } from './events.ts'
import {
  commands, createNameTable, entryOf, fromCommands, snapshotWorker, toCommands, whole,
} from './snapshot-parts.ts'
import type { AdmissionState, Reservation } from './state.ts'

/** Holds the state of `admission` every 200 events. A start reads the newest snapshot and only the events after it. */
export const ADMISSION_SNAPSHOT_STREAM = 'snapshot-admission'

/** What many sessions have in common. Worker, needed models and creating process are indexes into `names`. */
const kind = t.tuple([
  t.union([whole, t.null]), term, megabytes, t.union([t.readonlyArray(whole), t.null]), whole,
])
type Kind = t.TypeOf<typeof kind>

const difference = boundedInteger(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
/**
 * A session. Its id and its time in microseconds are differences from the session before it, because small numbers are
 * short. The first session has differences from 0. Between them: the user and the index of the kind.
 */
const session = t.tuple([difference, id, whole, difference])

/**
 * The whole state, up to and including `revision` of `admission`. With 20,000 open sessions it must fit into one append
 * of EventStoreDB (1 MiB), so a session has about 20 bytes.
 */
export const AdmissionSnapshotPacked = defineEvent(
  'AdmissionSnapshotPacked',
  t.strict({
    revision: whole,
    workers: t.readonlyArray(snapshotWorker),
    names: t.readonlyArray(t.string),
    kinds: t.readonlyArray(kind),
    open: t.readonlyArray(session),
    lastLiveId: whole,
    commands,
    earlierCommands: commands,
  }),
)
type Snapshot = EventOf<typeof AdmissionSnapshotPacked>['data']

/** Length of an instant up to its milliseconds. Three digits of microseconds follow. */
const TO_MILLISECONDS = '2026-11-21T09:30:00.123'.length

const microsecondsOf = (instant: string): number =>
  Date.parse(`${instant.slice(0, TO_MILLISECONDS)}Z`) * 1000 + Number(instant.slice(TO_MILLISECONDS).slice(0, 3))

const instantOf = (microseconds: number): string => {
  const milliseconds = new Date(Math.floor(microseconds / 1000)).toISOString().slice(0, TO_MILLISECONDS)
  return `${milliseconds}${String(microseconds % 1000).padStart(3, '0')}+00:00`
}

/** Converts a state to a snapshot. `revision`: the last event of `admission` that the state includes. */
export const toSnapshot = (state: AdmissionState, revision: number): Snapshot => {
  const names = createNameTable()
  const kinds = createNameTable()
  const kindOf = ({ worker, term: leadership, vram, needs, instance }: Reservation): Kind => [
    worker === null ? null : names.placeOf(worker), leadership, vram, needs?.map(names.placeOf) ?? null,
    names.placeOf(instance),
  ]
  let [liveId, at] = [0, 0]
  const open = state.open.map((held): Snapshot['open'][number] => {
    const [idBefore, timeBefore] = [liveId, at]
    liveId = held.liveId
    at = microsecondsOf(held.at)
    return [liveId - idBefore, held.userId, kinds.placeOf(JSON.stringify(kindOf(held))), at - timeBefore]
  })
  return {
    revision,
    workers: state.workers,
    names: names.names(),
    kinds: kinds.names().map((text) => JSON.parse(text) as Kind),
    open,
    lastLiveId: state.lastLiveId,
    commands: toCommands(state.commands),
    earlierCommands: toCommands(state.earlierCommands),
  }
}

/** Converts a snapshot to the state that folding the whole log would give. Throws when an index points to nothing. */
export const fromSnapshot = ({ workers, names, kinds, open, lastLiveId, ...recent }: Snapshot): AdmissionState => {
  const nameAt = entryOf(names, 'name')
  const common = kinds.map(([worker, leadership, vram, needs, instance]) => ({
    worker: worker === null ? null : nameAt(worker),
    term: leadership,
    vram,
    needs: needs?.map(nameAt) ?? null,
    instance: nameAt(instance),
  }))
  const commonAt = entryOf(common, 'kind')
  let [liveId, at] = [0, 0]
  return {
    workers,
    open: open.map(([idAfter, userId, place, timeAfter]) => {
      liveId += idAfter
      at += timeAfter
      return { ...commonAt(place), liveId, userId, at: instantOf(at) }
    }),
    lastLiveId,
    commands: fromCommands(recent.commands),
    earlierCommands: fromCommands(recent.earlierCommands),
  }
}
