import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'

/** A create command that was admitted. */
export interface RecentCommand {
  readonly commandId: string
  readonly liveId: number
  /** Milliseconds since 1970. */
  readonly at: number
}

type Chunk = ReadonlyMap<string, RecentCommand>

/**
 * Create commands in the order of admission, immutable, in chunks. Recording copies only the last chunk and the list of
 * chunks, which takes microseconds. Copying one large map on every event would take milliseconds.
 */
export type RecentCommands = ReadonlyArray<Chunk>

/** Commands in a full chunk. */
const CHUNK_SIZE = 128

export const EMPTY_COMMANDS: RecentCommands = []

export const recordCommand = (commands: RecentCommands, command: RecentCommand): RecentCommands => {
  const last = commands.at(-1)
  return last === undefined || last.size >= CHUNK_SIZE
    ? [...commands, new Map([[command.commandId, command]])]
    : [...commands.slice(0, -1), new Map(last).set(command.commandId, command)]
}

const countOf = (commands: RecentCommands): number => commands.reduce((count, { size }) => count + size, 0)

/**
 * Drops the oldest commands while they are older than `cutoff` (milliseconds since 1970) or there are more than
 * `maxCount`. The result does not depend on the chunk borders, so a state from a snapshot equals a state from the whole
 * log.
 */
export const pruneCommands = (commands: RecentCommands, cutoff: number, maxCount: number): RecentCommands => {
  const first = commands[0]
  const [oldest] = first?.values() ?? []
  if (first === undefined || oldest === undefined) return commands
  const surplus = Math.max(0, countOf(commands) - maxCount)
  if (surplus === 0 && oldest.at >= cutoff) return commands
  const entries = [...first]
  const from = entries.findIndex(([, { at }], index) => index >= surplus && at >= cutoff)
  const rest = commands.slice(1)
  return from === -1 ? pruneCommands(rest, cutoff, maxCount) : [new Map(entries.slice(from)), ...rest]
}

export const findCommand = (commands: RecentCommands, commandId: string): Option<number> => {
  const chunk = commands.find((entries) => entries.has(commandId))
  return O.fromNullable(chunk?.get(commandId)?.liveId)
}

/** Returns all recent commands, oldest first. */
export const allCommands = (commands: RecentCommands): ReadonlyArray<RecentCommand> =>
  commands.flatMap((chunk) => [...chunk.values()])
