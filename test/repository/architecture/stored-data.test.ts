import { readFileSync } from 'node:fs'
import test from 'ava'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { LiveDeleted } from '../../../domain/live/events.ts'
import { productSources } from './imports.ts'

const event = {
  type: 'LiveDeleted',
  stream: 'live-7',
  revision: 1,
  data: { liveId: 7, userId: 3, at: '2026-11-21T09:30:00.123456+00:00', lastStatus: 'finished' },
}

/** Compiled by tsc, never run: whoever reads the data of a stored event past its one reading does not compile. */
export const rawReaders = (stored: StoredEvent): ReadonlyArray<unknown> => [
  // @ts-expect-error nobody knows yet what it says
  stored.data.liveId,
  // @ts-expect-error nor by another way of writing it
  stored.data['liveId'],
  // @ts-expect-error nor as what a caller would like it to be
  ((known: { readonly liveId: number }) => known.liveId)(stored.data),
  // @ts-expect-error nor can it be written again as it lies there
  ((written: Parameters<typeof Object.keys>[0]) => written)(stored.data),
]

test('the one reading of stored events gives them in their types', (t) => {
  const deleted = eventReader([LiveDeleted])
  t.is(deleted(event)?.data.liveId, 7)
  t.is(deleted({ ...event, data: { liveId: 'seven' } }), undefined)
  t.is(deleted({ ...event, type: 'LiveFinished' }), undefined)
})

test('old shapes are upgraded in one place, and nobody claims the type of a stored event anywhere else', (t) => {
  const texts = productSources('.').map(({ path }) => ({ path, text: readFileSync(path, 'utf8') }))
  const pathsOf = (pattern: RegExp): ReadonlyArray<string> =>
    texts.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
  t.deepEqual(pathsOf(/\bupgrade\(/), ['domain/read-event.ts'])
  t.deepEqual(pathsOf(/\bas (unknown as )?Stored\w*Event(Of)?\b/), ['domain/read-event.ts'])
  t.deepEqual(pathsOf(/decodeOrThrow\([^()]*\b(event|stored)\.data\b/), [])
})
