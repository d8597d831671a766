import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { createKnownStates } from '../../../../application/log/states/known-states.ts'
import { followErasures } from '../../../../infrastructure/keys/follow-erasures.ts'
import { openKeyring, type StoredKey } from '../../../../infrastructure/keys/keyring.ts'
import { right } from '../../../contract/event-store-support.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { sealedMembers, plainMembers } from '../../../support/events/sealed-texts.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'

/** Opens a keyring that follows the erasures of another process, in virtual time. */
const follow = async (needed: ReadonlyArray<string> = []) => {
  const keys = new Map<string, StoredKey>()
  const requestedKeys: Array<string> = []
  let erased: Either<string, ReadonlyArray<string>> = E.right([])
  /** `find` reads the keys, and then waits for this promise before it returns them. */
  let held: Promise<void> | null = null
  const keyring = await openKeyring({
    ensure: async (name, wrapped) => {
      if (!keys.has(name)) keys.set(name, wrapped)
      return E.right(keys.get(name) ?? null)
    },
    find: async (names) => {
      requestedKeys.push(...names)
      const found = new Map(
        names.flatMap((name): ReadonlyArray<[string, StoredKey]> =>
          keys.has(name) ? [[name, keys.get(name) ?? null]] : [],
        ),
      )
      await held
      return E.right(found)
    },
    erase: async () => E.right(undefined),
    close: () => Promise.resolve(),
  }, Buffer.alloc(32, 7))
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  const states = createKnownStates()
  const { stop } = followErasures({
    memories: [keyring, states.ofKeys],
    erased: async () => erased,
    needed: () => needed,
    timers,
    monotonic: timers.monotonic,
    logger,
  })
  return {
    keyring, states, requestedKeys, logger, stop,
    eraseElsewhere: (name: string): void => void keys.set(name, null),
    reportErasures: (outcome: Either<string, ReadonlyArray<string>>): void => void (erased = outcome),
    holdFinds: (until: Promise<void> | null): void => void (held = until),
    pass: async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 500) {
        timers.advance(500)
        for (let turn = 0; turn < 4; turn += 1) await setImmediate()
      }
    },
  }
}

const erasedKey = (key: string) => [E.left({ _tag: 'KeyErased', key })]

test('the states of a user whose key another process erased leave the memory within a second', async (t) => {
  const { states, reportErasures, pass, stop } = await follow()
  const known = { state: 'Alice', revision: 0, recent: [], unsaved: { events: 0, size: 0 }, isWhole: true }
  states.keep('user-1', known, 'user-1')
  states.keep('profiles-1', known, 'user-1')
  states.keep('user-2', known, 'user-2')
  states.keep('catalogue', known, null)
  reportErasures(E.right(['user-1']))
  await pass(1000)
  const isKnown = (stream: string): boolean => states.get(stream) !== undefined
  t.deepEqual(['user-1', 'profiles-1', 'user-2', 'catalogue'].map(isKnown), [false, false, true, true])
  // Without an answer, other processes may have erased any key.
  reportErasures(E.left('unreachable'))
  await pass(31_000)
  t.deepEqual(['user-2', 'catalogue'].map(isKnown), [false, true])
  await stop()
})

test('a key erased by another process leaves the memory within a second', async (t) => {
  const { keyring, eraseElsewhere, reportErasures, pass, stop } = await follow()
  const [alice, bob] = [
    await right(keyring.seal('user-1', plainMembers(['Alice']))),
    await right(keyring.seal('user-2', plainMembers(['Bob']))),
  ]
  eraseElsewhere('user-1')
  t.deepEqual(await right(keyring.open(sealedMembers(alice))), [E.right('Alice')])
  reportErasures(E.right(['user-1']))
  await pass(1000)
  t.deepEqual(await right(keyring.open(sealedMembers(alice))), erasedKey('user-1'))
  t.deepEqual(await keyring.seal('user-1', plainMembers(['again'])), E.left({ _tag: 'KeyErased', key: 'user-1' }))
  t.deepEqual(await right(keyring.open(sealedMembers(bob))), [E.right('Bob')])
  await stop()
})

test('a value that was read before the erasure is not cached after it', async (t) => {
  const { keyring, requestedKeys, eraseElsewhere, reportErasures, pass, holdFinds, stop } = await follow()
  const alice = await right(keyring.seal('user-1', plainMembers(['Alice'])))
  keyring.keepOnly([])
  const { promise, resolve } = Promise.withResolvers<void>()
  holdFinds(promise)
  const reading = right(keyring.open(sealedMembers(alice)))
  eraseElsewhere('user-1')
  reportErasures(E.right(['user-1']))
  await pass(1000)
  holdFinds(null)
  resolve()
  t.deepEqual(await reading, [E.right('Alice')])
  t.deepEqual(await right(keyring.open(sealedMembers(alice))), erasedKey('user-1'))
  t.deepEqual(requestedKeys, ['user-1', 'user-1'])
  await stop()
})

test('after thirty seconds without an answer only keys of running sessions stay in memory', async (t) => {
  const { keyring, requestedKeys, logger, reportErasures, pass, stop } = await follow(['text-7'])
  const sealed = await right(keyring.seal('text-7', plainMembers(['running'])))
  const alice = await right(keyring.seal('user-1', plainMembers(['Alice'])))
  const open = () => right(keyring.open(sealedMembers([...sealed, ...alice])))
  await pass(5000)
  reportErasures(E.left('cut off'))
  await pass(29_000)
  await open()
  t.deepEqual(requestedKeys, [])
  await pass(3000)
  t.is(logger.lines.length, 1)
  await open()
  t.deepEqual(requestedKeys, ['user-1'])
  // The keyring reads the key again on every check while the erasures are unknown.
  await pass(1000)
  await open()
  t.deepEqual(requestedKeys, ['user-1', 'user-1'])
  reportErasures(E.right([]))
  await pass(1000)
  for (let time = 0; time < 2; time += 1) {
    await open()
    await pass(1000)
  }
  t.is(requestedKeys.length, 2)
  await stop()
})
