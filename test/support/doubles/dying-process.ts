import type { EventStore } from '../../../application/ports/event-store.ts'
import type { Keyring } from '../../../application/ports/keyring.ts'

type Task<A> = () => Promise<A>

/**
 * A process that dies at its step number `last` (from 0), before or after that step took effect: what it waits for
 * then never comes. Every write to the log or the keyring is a step.
 */
export const createDyingProcess = (
  { store, keyring }: { readonly store: EventStore; readonly keyring: Keyring },
  last: number,
  when: 'before' | 'after',
) => {
  let steps = 0
  let die: () => void = () => undefined
  const died = new Promise<'died'>((resolve) => { die = () => resolve('died') })
  const step = <A>(task: Task<A>): Task<A> => async () => {
    const number = steps++
    if (number > last || (number === last && when === 'before')) {
      die()
      return await new Promise<never>(() => undefined)
    }
    const answer = await task()
    if (number < last) return answer
    die()
    return await new Promise<never>(() => undefined)
  }
  const dyingStore: EventStore = {
    ...store,
    append: (...given) => step(store.append(...given)),
    deleteStream: (stream) => step(store.deleteStream(stream)),
    setMetadata: (...given) => step(store.setMetadata(...given)),
  }
  const dyingKeyring: Keyring = { ...keyring, erase: (keys) => step(keyring.erase(keys)) }
  return {
    store: dyingStore,
    keyring: dyingKeyring,
    /** The answer, or `died`. */
    outlive: async <A>(work: Promise<A>): Promise<A | 'died'> => await Promise.race([work, died]),
  }
}
