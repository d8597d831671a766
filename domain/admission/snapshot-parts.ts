import * as t from 'io-ts'
import { boundedInteger, id } from '../shared/codecs.ts'
import { allCommands, EMPTY_COMMANDS, type RecentCommands, recordCommand } from './commands.ts'
import { incarnation, megabytes } from './events.ts'

/** The parts of a snapshot that all versions store in the same way. */

export const whole = boundedInteger(0, Number.MAX_SAFE_INTEGER)
export const snapshotWorker = t.strict({ worker: t.string, incarnation, vram: megabytes, isDraining: t.boolean })
/** Each entry: command id, session id, milliseconds since 1970. */
export const commands = t.readonlyArray(t.tuple([t.string, id, whole]))
type Commands = t.TypeOf<typeof commands>

export const toCommands = (recent: RecentCommands): Commands =>
  allCommands(recent).map(({ commandId, liveId, at }) => [commandId, liveId, at])

export const fromCommands = (list: Commands): RecentCommands =>
  list.reduce((recent, [commandId, liveId, at]) => recordCommand(recent, { commandId, liveId, at }), EMPTY_COMMANDS)

/** Stores repeated names once: `placeOf` returns the index of a name in `names`. */
export const createNameTable = () => {
  const places = new Map<string, number>()
  return {
    placeOf: (name: string): number => {
      const place = places.get(name) ?? places.size
      places.set(name, place)
      return place
    },
    names: (): ReadonlyArray<string> => [...places.keys()],
  }
}

/** Returns a function that finds an entry of a table. It throws when the index points to none. */
export const entryOf = <A>(table: ReadonlyArray<A>, kind: string) => (place: number): A => {
  const entry = table[place]
  if (entry === undefined) throw new Error(`the admission snapshot has no ${kind} with index ${place}`)
  return entry
}
