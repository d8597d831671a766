import type { EventStore, Position } from '../../../application/ports/event-store.ts'
import { right } from '../../support/tools/right.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'

export const environment = createTestEnvironment()

/** Appends an event with any data, also an unknown or invalid one. */
export const append = async (store: EventStore, stream: string, type: string, data: object = {}): Promise<Position> => {
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }
  return right(await store.append(stream, 'any', [{ id: environment.newId(), type, data: { ...data }, metadata }]))
    .position
}
