import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { removeModel } from '../../../../application/catalogue/commands/remove-model.ts'
import { evolve, initialState } from '../../../../domain/admission/state.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { callerOf } from '../../../support/worlds/token-world.ts'
import { after } from '../../../support/events/sample-events.ts'
import { model } from '../../../api/http/example-views.ts'

const used = evolve(initialState, {
  type: 'Admitted',
  data: { liveId: 1, userId: 3, worker: 'w', vram: 310, needs: ['base'], instance: 'i', commandId: 'c', at: after(0) },
})
const facts = { name: 'base', ships: false, bytes: 1, precision: null, source: null, measured: false }

/** A machine with the model `base`. `isUsedMeanwhile`: a session starts to use the model while its folder is hidden. */
const start = ({ isUsedMeanwhile = false, isStoreUnavailable = false } = {}) => {
  const actions: Array<string> = []
  const store = createMemoryEventStore()
  let state = initialState
  const note = (action: string) => async (): Promise<void> => void actions.push(action)
  const remove = removeModel({
    store, keyring: createMemoryKeyring(), environment: createTestEnvironment(), timers: immediateTimers,
    catalogue: { models: () => [model(6, 'base')], translations: () => [] },
    onDisk: {
      all: () => [facts],
      hide: async () => {
        if (isUsedMeanwhile) state = used
        await note('hide')()
        return { restore: note('restore'), destroy: note('destroy') }
      },
    },
    rescan: isStoreUnavailable ? () => Promise.reject(new Error('the store is unavailable')) : note('rescan'),
    admission: { state: () => state },
  })
  return { actions, store, remove: () => remove(callerOf(1), 6) }
}

test('a model is hidden, then removed, and the removal is an event', async (t) => {
  const { actions, store, remove } = start()
  right(await remove())
  t.deepEqual(actions, ['hide', 'rescan', 'destroy'])
  t.deepEqual(
    right(await store.read('administration')).map(({ type, data }) => [type, (data as { name: string }).name]),
    [['ModelRemoved', 'base']],
  )
})

test('a model that a session starts to use during the removal is restored', async (t) => {
  const { actions, remove } = start({ isUsedMeanwhile: true })
  t.deepEqual(await remove(), E.left({ _tag: 'ModelInUse', lives: 1 }))
  t.deepEqual(actions, ['hide', 'rescan', 'restore', 'rescan'])
})

test('a model is restored when the store becomes unavailable during its removal', async (t) => {
  const { actions, remove } = start({ isStoreUnavailable: true })
  t.deepEqual(await remove(), E.left({ _tag: 'StoreUnavailable', reason: 'the store is unavailable' }))
  t.deepEqual(actions, ['hide', 'restore'])
})
