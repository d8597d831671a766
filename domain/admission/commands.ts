import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import type { AdmissionSnapshotTaken } from './events.ts'

type RecentCommand = AdmissionSnapshotTaken['data']['commands'][number]
type Chunk = ReadonlyMap<string, RecentCommand>

/**
 * The creates of the last 24 hours in the order of admission: immutable, in chunks of at most CHUNK. Recording copies
 * the last chunk and the list of chunks, finding asks each chunk's map: at 100,000 creates a day that is some 800
 * chunks, a few microseconds, where one map copied on every event would take milliseconds.
 */
export type RecentCommands = ReadonlyArray<Chunk>

const CHUNK = 128
const KEPT_MS = 24 * 60 * 60 * 1000

export const EMPTY_COMMANDS: RecentCommands = []

export const recordCommand = (commands: RecentCommands, command: RecentCommand): RecentCommands => {
  const last = commands.at(-1)
  return last === undefined || last.size >= CHUNK
    ? [...commands, new Map([[command.commandId, command]])]
    : [...commands.slice(0, -1), new Map(last).set(command.commandId, command)]
}

/**
 * Drops commands from the front for as long as they are older than 24 hours at `now`. Looking at the front alone
 * makes the outcome independent of how the commands are cut into chunks, so a snapshot folds on like the log.
 */
export const pruneCommands = (commands: RecentCommands, now: string): RecentCommands => {
  const cutoff = Date.parse(now) - KEPT_MS
  const isKept = ({ at }: RecentCommand): boolean => !(Date.parse(at) < cutoff)
  const first = commands[0]
  const [oldest] = first?.values() ?? []
  if (first === undefined || oldest === undefined || isKept(oldest)) return commands
  const entries = [...first]
  const from = entries.findIndex(([, command]) => isKept(command))
  return from === -1 ? pruneCommands(commands.slice(1), now) : [new Map(entries.slice(from)), ...commands.slice(1)]
}

export const findCommand = (commands: RecentCommands, commandId: string): Option<number> => {
  const chunk = commands.find((entries) => entries.has(commandId))
  return O.fromNullable(chunk?.get(commandId)?.liveId)
}

/** Oldest first. */
export const allCommands = (commands: RecentCommands): ReadonlyArray<RecentCommand> => commands.flatMap((chunk) => [...chunk.values()])
