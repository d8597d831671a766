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
import { after } from '../../domain/samples.ts'
import { model } from '../../../api/http/http-service.ts'

const used = evolve(initialState, {
  type: 'Admitted',
  data: { liveId: 1, userId: 3, worker: 'w', vram: 310, needs: ['base'], instance: 'i', commandId: 'c', at: after(0) },
})
const facts = { name: 'base', ships: false, bytes: 1, precision: null, source: null, measured: false }

/** A machine with the model `base`, which somebody begins to use while its folder is out of sight where that is so. */
const start = ({ isUsedMeanwhile = false, isStoreAway = false } = {}) => {
  const did: Array<string> = []
  const store = createMemoryEventStore()
  let state = initialState
  const note = (what: string) => async (): Promise<void> => void did.push(what)
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
    rescan: isStoreAway ? () => Promise.reject(new Error('the store is away')) : note('rescan'),
    admission: { state: () => state },
  })
  return { did, store, remove: () => remove(callerOf(1), 6)() }
}

test('a model is hidden, then removed, and the removal is an event [R172]', async (t) => {
  const { did, store, remove } = start()
  right(await remove())
  t.deepEqual(did, ['hide', 'rescan', 'destroy'])
  t.deepEqual(
    right(await store.read('administration')()).map(({ type, data }) => [type, (data as { name: string }).name]),
    [['ModelRemoved', 'base']],
  )
})

test('a model that a session begins to use meanwhile returns [R172]', async (t) => {
  const { did, remove } = start({ isUsedMeanwhile: true })
  t.deepEqual(await remove(), E.left({ _tag: 'ModelInUse', lives: 1 }))
  t.deepEqual(did, ['hide', 'rescan', 'restore', 'rescan'])
})

test('a model whose removal a store outage interrupts returns [R172]', async (t) => {
  const { did, remove } = start({ isStoreAway: true })
  t.deepEqual(await remove(), E.left({ _tag: 'StoreUnavailable', reason: 'the store is away' }))
  t.deepEqual(did, ['hide', 'restore'])
})
