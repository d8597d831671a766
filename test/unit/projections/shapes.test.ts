import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import type { Document } from '../../../application/ports/documents.ts'
import type { Position, StoredEvent } from '../../../application/ports/event-store.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import type { Projection } from '../../../projections/projection.ts'

const EVENTS = new URL('../domain/golden/', import.meta.url)

/** One event of each stored shape of each event type. */
const golden: ReadonlyArray<StoredEvent> = readdirSync(EVENTS)
  .filter((file) => file.endsWith('.json'))
  .map((file, index) => {
    const { stored } = JSON.parse(readFileSync(new URL(file, EVENTS), 'utf8')) as {
      readonly stored: StoredEvent['data']
    }
    const metadata = {
      correlationId: 'c',
      causationId: 'c',
      actor: 'service',
      recordedAt: '2026-11-21T09:30:00.123456+00:00',
    }
    return {
      id: file,
      type: file.split('.')[0] ?? '',
      data: stored,
      metadata,
      stream: 'any',
      revision: index,
      position: String(index) as Position,
      storedAt: 0,
    }
  })

const after = (projection: Projection, before: Document | null, event: StoredEvent): ReadonlyArray<Document> =>
  projection.touches(event).flatMap((id) => {
    const document = projection.project(before && { ...before }, event, id)
    return document === null || JSON.stringify(document) === JSON.stringify(before) ? [] : [document]
  })

/** Returns a hash of the documents that the projection makes of each single event and of each pair of events. */
const shapeOf = (projection: Projection): string => {
  const created = golden.flatMap((event) => after(projection, null, event))
  const all = [
    ...created,
    ...created.flatMap((document) => golden.flatMap((event) => after(projection, document, event))),
  ]
  return createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 16)
}

/** The expected hash of each read model. */
const SHAPES: Readonly<Record<string, string>> = {
  'api-token-totals-2': 'dd7bcf8a7a82a806',
  'api-tokens': '516de53fc81213d2',
  'live-counts': '52d921316eff36ab',
  'live-tokens': 'b3682979c564d798',
  'live-totals-2': '37906cc51f8534f5',
  'lives': '0b5d9becdcd25814',
  'profiles': 'dc272728dc541ec7',
  'user-totals-2': 'daafd0e2f27181f7',
  'users': '2becb8fae03d3b70',
}

test('two versions that make different documents of the same events have different names', (t) => {
  const shapes = Object.fromEntries(allProjections.map((projection) => [projection.name, shapeOf(projection)]))
  t.deepEqual(
    shapes,
    SHAPES,
    'If the documents of a released read model change, rename it and its collection (`lives-2`). Then processes of ' +
      'both versions run side by side, each with its own read model. ' +
      'If only events were added that the projection ignores, write down the new hash.',
  )
  for (const { name, collection } of allProjections)
    t.true(/-\d+$/.test(name) === /-\d+$/.test(collection.name), `${name} is stored in ${collection.name}`)
})
