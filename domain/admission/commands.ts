import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'

/** A create that was admitted. */
export interface RecentCommand {
  readonly commandId: string
  readonly liveId: number
  /** Milliseconds since 1970. */
  readonly at: number
}

type Chunk = ReadonlyMap<string, RecentCommand>

/**
 * Creates in the order of admission: immutable, in chunks of at most CHUNK. Recording copies the last chunk and the
 * list of chunks, finding asks each chunk's map: a few microseconds, where one map copied on every event would take
 * milliseconds.
 */
export type RecentCommands = ReadonlyArray<Chunk>

const CHUNK = 128

export const EMPTY_COMMANDS: RecentCommands = []

export const recordCommand = (commands: RecentCommands, command: RecentCommand): RecentCommands => {
  const last = commands.at(-1)
  return last === undefined || last.size >= CHUNK
    ? [...commands, new Map([[command.commandId, command]])]
    : [...commands.slice(0, -1), new Map(last).set(command.commandId, command)]
}

const countOf = (commands: RecentCommands): number => commands.reduce((count, { size }) => count + size, 0)

/**
 * Drops commands from the front for as long as they are older than `cutoff`, or more than `most` stand there. Looking
 * at the front alone makes the outcome independent of how the commands are cut into chunks, so a snapshot folds on like
 * the log.
 */
export const pruneCommands = (commands: RecentCommands, cutoff: number, most: number): RecentCommands => {
  const first = commands[0]
  const [oldest] = first?.values() ?? []
  if (first === undefined || oldest === undefined) return commands
  const surplus = Math.max(0, countOf(commands) - most)
  if (surplus === 0 && oldest.at >= cutoff) return commands
  const entries = [...first]
  const from = entries.findIndex(([, { at }], index) => index >= surplus && at >= cutoff)
  const rest = commands.slice(1)
  return from === -1 ? pruneCommands(rest, cutoff, most) : [new Map(entries.slice(from)), ...rest]
}

export const findCommand = (commands: RecentCommands, commandId: string): Option<number> => {
  const chunk = commands.find((entries) => entries.has(commandId))
  return O.fromNullable(chunk?.get(commandId)?.liveId)
}

/** Oldest first. */
export const allCommands = (commands: RecentCommands): ReadonlyArray<RecentCommand> =>
  commands.flatMap((chunk) => [...chunk.values()])
