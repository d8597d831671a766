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

/** tsc compiles this function, and nothing calls it. It shows that stored data cannot be read without `eventReader`. */
export const rawReaders = (stored: StoredEvent): ReadonlyArray<unknown> => [
  // @ts-expect-error the data is not decoded yet
  stored.data.liveId,
  // @ts-expect-error access by name is refused too
  stored.data['liveId'],
  // @ts-expect-error the data cannot be passed as another type
  ((known: { readonly liveId: number }) => known.liveId)(stored.data),
  // @ts-expect-error the data cannot be passed as a plain object
  ((written: Parameters<typeof Object.keys>[0]) => written)(stored.data),
]

test('eventReader returns stored events with their types', (t) => {
  const deleted = eventReader([LiveDeleted])
  t.is(deleted(event)?.data.liveId, 7)
  t.is(deleted({ ...event, data: { liveId: 'seven' } }), undefined)
  t.is(deleted({ ...event, type: 'LiveFinished' }), undefined)
})

test('one file upgrades old events, and no other file casts to a stored event', (t) => {
  const texts = productSources('.').map(({ path }) => ({ path, text: readFileSync(path, 'utf8') }))
  const pathsOf = (pattern: RegExp): ReadonlyArray<string> =>
    texts.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
  t.deepEqual(pathsOf(/\bupgrade\(/), ['domain/read-event.ts'])
  t.deepEqual(pathsOf(/\bas (unknown as )?Stored\w*Event(Of)?\b/), ['domain/read-event.ts'])
  t.deepEqual(pathsOf(/decodeOrThrow\([^()]*\b(event|stored)\.data\b/), [])
})
