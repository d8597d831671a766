import type { EventStore, LogCorrupted, Position, SubscriptionMessage } from '../ports/event-store.ts'

/** A row that is not what was written; the log goes on behind it. */
export type DamagedRow = NonNullable<LogCorrupted['row']>

const damagedRowOf = (error: unknown): DamagedRow | undefined => {
  const cause = error instanceof Error ? (error.cause as Partial<LogCorrupted> | undefined) : undefined
  return cause?._tag === 'LogCorrupted' ? cause.row : undefined
}

/**
 * The store's subscription, which goes on behind each damaged row once `onDamaged` was told of it, in the order of the
 * log; its message stands where the row does. What else goes wrong ends it.
 */
export const passingOver = (
  subscribe: EventStore['subscribe'],
  onDamaged: (row: DamagedRow) => void = () => undefined,
): EventStore['subscribe'] =>
  async function* (from, prefixes, signal): AsyncGenerator<SubscriptionMessage, void> {
    let position: Position = from
    for (;;) {
      try {
        yield* subscribe(position, prefixes, signal)
        return
      } catch (error) {
        const row = damagedRowOf(error)
        // A row that comes again would come for ever.
        if (row === undefined || row.position <= position) throw error
        onDamaged(row)
        yield { kind: 'damaged', ...row }
        position = row.position
      }
    }
  }
