import type { EventStore } from '../../../application/ports/event-store.ts'
import type { Keyring } from '../../../application/ports/keyring.ts'


interface DyingProcess {
  readonly store: EventStore
  readonly keyring: Keyring
  /** Returns the result of the work, or `died` when the process dies first. */
  readonly outlive: <A>(work: Promise<A>) => Promise<A | 'died'>
}

/**
 * Simulates a process that dies at write number `last` (from 0), before or after the write takes effect. From then on
 * no call returns. Writes are all changes of the log, and erasures of the keyring.
 */
export const createDyingProcess = (
  { store, keyring }: { readonly store: EventStore; readonly keyring: Keyring },
  last: number,
  when: 'before' | 'after',
): DyingProcess => {
  let writes = 0
  const death = Promise.withResolvers<'died'>()
  const die = (): Promise<never> => {
    death.resolve('died')
    return new Promise<never>(() => undefined)
  }
  const write = async <A>(task: () => Promise<A>): Promise<A> => {
    const number = writes++
    if (number > last || (number === last && when === 'before')) return await die()
    const answer = await task()
    return number < last ? answer : await die()
  }
  return {
    store: {
      ...store,
      append: (...args) => write(() => store.append(...args)),
      deleteStream: (stream) => write(() => store.deleteStream(stream)),
      setMetadata: (...args) => write(() => store.setMetadata(...args)),
    },
    keyring: { ...keyring, erase: (keys) => write(() => keyring.erase(keys)) },
    outlive: async (work) => await Promise.race([work, death.promise]),
  }
}
