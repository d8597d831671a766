import type { Position as ServerPosition } from '@eventstore/db-client'
import { BEGINNING, type Position } from '../../application/ports/event-store.ts'

const DIGITS = 20
const SHAPE = /^(\d{20})-(\d{20})$/

/**
 * Commit, then prepare position, with leading zeros: the text sorts as the log does, and events that were committed
 * together still differ. A checkpoint between two events (`prepare` 0) sorts between them.
 */
export const toPosition = ({ commit, prepare }: ServerPosition): Position =>
  `${String(commit).padStart(DIGITS, '0')}-${String(prepare).padStart(DIGITS, '0')}` as Position

/** Where a subscription begins. Throws on a position that is not one of this store. */
export const fromPosition = (position: Position): ServerPosition | 'start' => {
  if (position === BEGINNING) return 'start'
  const [, commit, prepare] = SHAPE.exec(position) ?? []
  if (commit === undefined || prepare === undefined) throw new TypeError(`"${position}" is not a position of an EventStoreDB log`)
  return { commit: BigInt(commit), prepare: BigInt(prepare) }
}
