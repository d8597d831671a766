import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import type { Document } from '../../../application/ports/documents.ts'
import type { Position, StoredEvent } from '../../../application/ports/event-store.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import type { Projection } from '../../../projections/projection.ts'

const EVENTS = new URL('../domain/golden/', import.meta.url)

/** One of each stored shape of each event. */
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
    }
  })

const after = (projection: Projection, before: Document | null, event: StoredEvent): ReadonlyArray<Document> =>
  projection.touches(event).flatMap((id) => {
    const made = projection.project(before && { ...before }, event, id)
    return made === null || JSON.stringify(made) === JSON.stringify(before) ? [] : [made]
  })

/** What the projection makes of each event, by itself and behind each that makes a document. */
const shapeOf = (projection: Projection): string => {
  const begun = golden.flatMap((event) => after(projection, null, event))
  const all = [...begun, ...begun.flatMap((document) => golden.flatMap((event) => after(projection, document, event)))]
  return createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 16)
}

/** By the names of the read models. */
const SHAPES: Readonly<Record<string, string>> = {
  'api-token-totals': 'f056bf2f3459402a',
  'api-tokens': '516de53fc81213d2',
  'live-counts': 'd9b71bd3b43a4160',
  'live-tokens': 'b3682979c564d798',
  'live-totals': '96ea0b7554012726',
  'lives': '0b5d9becdcd25814',
  'profiles': 'dc272728dc541ec7',
  'user-totals': '29303a4e216b49c5',
  'users': '2becb8fae03d3b70',
}

test('two versions that make different documents of the same events have different names', (t) => {
  const shapes = Object.fromEntries(allProjections.map((projection) => [projection.name, shapeOf(projection)]))
  t.deepEqual(
    shapes,
    SHAPES,
    'Where a read model of a released version is made differently, call it and its collection anew (`lives-2`): then ' +
      'processes of both versions run beside each other, each with its own. If only events were added that it does not hear, write down the new value.',
  )
  for (const { name, collection } of allProjections)
    t.true(/-\d+$/.test(name) === /-\d+$/.test(collection.name), `${name} lies in ${collection.name}`)
})
