import type { ExecutionContext } from 'ava'
import type { EventStore } from '../../application/ports/event-store.ts'
import { eventually } from '../support/tools/eventually.ts'
import { newEvent, newEvents, numbers, restored, revisions, right, wrongRevision } from './event-store-support.ts'

type On = (title: string, body: (t: ExecutionContext, store: EventStore) => Promise<void>) => void

/** Tests the limits and the deletion of streams, for every event store. */
export const streamLimitsContract = (on: On): void => {
  on('$maxCount keeps the last events and their revisions', async (t, store) => {
    await right(store.setMetadata('a', { maxCount: 2 }))
    await right(store.append('a', 'no-stream', newEvents(3)))
    t.deepEqual(await numbers(store, 'a'), [1, 2])
    await right(store.append('a', 2, [newEvent(3)]))
    t.deepEqual(await numbers(store, 'a', { from: 0 }), [2, 3])
    t.deepEqual(await revisions(store, 'a'), [2, 3])
    t.deepEqual(await numbers(store, 'a', { direction: 'backwards' }), [3, 2])
  })

  on('a $maxCount that is set later takes effect immediately', async (t, store) => {
    await right(store.append('a', 'no-stream', newEvents(5)))
    await right(store.setMetadata('a', { maxCount: 1 }))
    t.deepEqual(await numbers(store, 'a'), [4])
  })

  on('$maxAge hides old events from reads, and revisions keep counting', async (t, store) => {
    await right(store.setMetadata('a', { maxAgeSeconds: 1 }))
    await right(store.setMetadata('b', { maxAgeSeconds: 3600 }))
    await right(store.append('a', 'no-stream', newEvents(2)))
    await right(store.append('b', 'no-stream', newEvents(2)))
    await eventually(async () => {
      if ((await right(store.read('a'))).length > 0) throw new Error('the events are still read')
    })
    t.is((await right(store.append('a', 1, [newEvent(2)]))).revision, 2)
    t.deepEqual(await numbers(store, 'b'), [0, 1])
  })

  on('a deleted stream reads as empty, and its revisions keep counting', async (t, store) => {
    await right(store.append('a', 'no-stream', newEvents(3)))
    await right(store.deleteStream('a'))
    t.deepEqual(await right(store.read('a')), [])
    t.deepEqual(await right(store.read('a', { direction: 'backwards', limit: 1 })), [])
    await right(store.deleteStream('a'))
    t.is((await right(store.append('a', 2, [newEvent(3)]))).revision, 3)
    t.deepEqual(await restored(() => revisions(store, 'a')), [3])
  })

  on('a deleted stream counts as missing for the expected revision', async (t, store) => {
    const original = newEvents(2)
    const first = await right(store.append('a', 'no-stream', original))
    await right(store.deleteStream('a'))
    t.is(
      (await right(store.append('a', 'no-stream', original))).revision,
      first.revision,
      'a retry of the deleted append',
    )
    t.deepEqual(await right(store.read('a')), [])
    t.is((await right(store.append('a', 'no-stream', [newEvent(2)]))).revision, 2)
    t.deepEqual(await store.append('a', 'no-stream', [newEvent()]), wrongRevision('a', 2))
    t.deepEqual(await restored(() => numbers(store, 'a')), [2])
  })

  on('limits of a deleted stream neither restore old events nor hide new ones', async (t, store) => {
    await right(store.append('a', 'no-stream', newEvents(3)))
    await right(store.deleteStream('a'))
    await right(store.setMetadata('a', { maxCount: 2 }))
    t.deepEqual(await right(store.read('a')), [])
    await right(store.append('a', 'no-stream', newEvents(3, 3)))
    // A store may have dropped the limit.
    t.deepEqual((await restored(() => numbers(store, 'a'))).slice(-2), [4, 5])
    t.false((await numbers(store, 'a')).includes(2))
    await right(store.setMetadata('a', {}))
    await right(store.append('a', 5, [newEvent(6)]))
    t.false((await numbers(store, 'a')).includes(2))
  })

  on('deleting an unknown stream changes nothing', async (t, store) => {
    await right(store.deleteStream('a'))
    t.is((await right(store.append('a', 'no-stream', [newEvent()]))).revision, 0)
  })
}
