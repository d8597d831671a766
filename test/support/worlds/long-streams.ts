import * as E from 'fp-ts/lib/Either.js'
import { getHistoryEntry } from '../../../application/lives/queries/get-history.ts'
import type { WriteDeps } from '../../../application/log/handle-command.ts'
import { sendToProfiles } from '../../../application/log/send-to.ts'
import { loadState } from '../../../application/log/states/load-state.ts'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import { profilesDecider, type ProfilesCommand } from '../../../domain/profiles/decider.ts'
import { createTestEnvironment } from '../doubles/environment.ts'
import { immediateTimers } from '../doubles/immediate-timers.ts'
import { right } from '../tools/right.ts'
import { createStreamStates } from './stream-states.ts'
import { callerOf, createWriteSide, requestOf } from './write-side.ts'

/** Wraps a store and counts the events that it returns. */
export const countReads = (store: EventStore) => {
  let events = 0
  const read: EventStore['read'] = async (stream, options) => {
    const found = await store.read(stream, options)
    if (E.isRight(found)) events += found.right.length
    return found
  }
  return {
    store: { ...store, read },
    /** Runs `task` and returns how many events it read. */
    during: async (task: () => Promise<unknown>): Promise<number> => {
      const before = events
      await task()
      return events - before
    },
  }
}

export const PROFILES_STREAM = 'profiles-7'
/** A vocabulary of nearly 3 kB. About every sixth change of it makes a snapshot due. */
export const HOTWORDS = Array.from({ length: 30 }, (_, index) => `hotword ${index} `.repeat(8))

/** A process with the profiles of user 7. `restart` returns another one on the same stores. */
export const startProfiles = <Stores extends Pick<WriteDeps, 'store' | 'keyring'>>(stores: Stores) => {
  const environment = createTestEnvironment()
  const { store, during } = countReads(stores.store)
  const base = { ...stores, store, environment, timers: immediateTimers }
  const deps = { ...base, states: createStreamStates(base) }
  const send = async (command: ProfilesCommand, commandId = environment.newId()) => {
    const origin = { commandId, correlationId: commandId, actor: 'user:7' }
    const handled = await sendToProfiles(deps)(7, command, origin)
    await deps.states.snapshots.idle()
    return handled
  }
  const change = (count: number, profileId = 1) => {
    const vocabulary = { prompt: `prompt ${count}`, hotwords: HOTWORDS }
    return send({ type: 'ChangeProfile', profileId, name: `change ${count}`, settings: {}, vocabulary })
  }
  const add = (profileId: number) => {
    const settings = DEFAULT_ENGINE_SETTINGS
    return send({ type: 'AddProfile', profileId, userId: 7, name: 'first', settings })
  }
  const load = async (from: Pick<WriteDeps, 'store' | 'keyring' | 'states'> = deps) =>
    right(await loadState(from)(PROFILES_STREAM, profilesDecider)).state
  return {
    ...stores, deps, send, add, change, load,
    reads: (task: () => Promise<unknown>) => during(task),
    /** The state without any snapshot. */
    loadWhole: () => load(stores),
    restart: () => startProfiles(stores),
  }
}

/** A process whose first profile has changed `count` times. */
export const changedProfiles = async <Stores extends Pick<WriteDeps, 'store' | 'keyring'>>(
  stores: Stores, count: number,
) => {
  const world = startProfiles(stores)
  right(await world.add(1))
  for (let each = 1; each <= count; each++) right(await world.change(each))
  return world
}

export const OWNER = callerOf(1)

/**
 * The first session, of `OWNER`. Its vocabulary has changed `changes` times: entry n of its history is change n - 2.
 */
export const changedSession = async (memory: EventStore, changes: number) => {
  const { store, during } = countReads(memory)
  const side = await createWriteSide({ store })
  right(await side.createLive(OWNER, requestOf()))
  right(await side.lifecycle.startLive(1))
  for (let each = 1; each <= changes; each++) {
    const vocabulary = { prompt: `prompt ${each}`, hotwords: HOTWORDS }
    right(await side.lifecycle.changeVocabulary(1, { vocabulary, term: 1 })())
    await side.deps.states?.snapshots.idle()
  }
  /** What another process, which has just started, tells of an entry of the history, and how many events it reads. */
  const entry = async (id: number) => {
    const historyEntry = getHistoryEntry({ ...side.deps, states: createStreamStates(side.deps) })
    let prompt: string | undefined
    const read = await during(async () => {
      prompt = right(await historyEntry(OWNER, 1, id)).state.vocabulary?.prompt
    })
    return { prompt, read }
  }
  return { side, during, entry }
}
