import type { EventStore, LogCorrupted, Position, SubscriptionMessage } from '../ports/event-store.ts'

/** Place of a damaged row. The rows after it can be read. */
export type DamagedRow = NonNullable<LogCorrupted['row']>

const damagedRowOf = (error: unknown): DamagedRow | undefined => {
  const cause = error instanceof Error ? (error.cause as Partial<LogCorrupted> | undefined) : undefined
  return cause?._tag === 'LogCorrupted' ? cause.row : undefined
}

/**
 * Wraps a subscription, so it continues after damaged rows. It calls `onDamaged` and yields a `damaged` message in
 * place of the row. Any other error ends the subscription.
 */
export const skipDamaged = (
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
        // A row at or before the position would be read again in an endless loop.
        if (row === undefined || row.position <= position) throw error
        onDamaged(row)
        yield { kind: 'damaged', ...row }
        position = row.position
      }
    }
  }
