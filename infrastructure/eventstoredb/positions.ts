import type { Position as ServerPosition } from '@eventstore/db-client'
import { BEGINNING, type Position } from '../../application/ports/event-store.ts'

const DIGITS = 20
const POSITION = /^(\d{20})-(\d{20})$/

/**
 * Formats a position as commit and prepare position with leading zeros, so the texts sort in log order. The prepare
 * position distinguishes events of one commit. A checkpoint, which is a position without an event, has `prepare` 0 and
 * sorts between the events around it.
 */
export const toPosition = ({ commit, prepare }: ServerPosition): Position =>
  `${String(commit).padStart(DIGITS, '0')}-${String(prepare).padStart(DIGITS, '0')}` as Position

/** Parses a position. Throws a TypeError when it belongs to another kind of store. */
export const fromPosition = (position: Position): ServerPosition | 'start' => {
  if (position === BEGINNING) return 'start'
  const [, commit, prepare] = POSITION.exec(position) ?? []
  if (commit === undefined || prepare === undefined)
    throw new TypeError(`"${position}" is not a position of an EventStoreDB log`)
  return { commit: BigInt(commit), prepare: BigInt(prepare) }
}
