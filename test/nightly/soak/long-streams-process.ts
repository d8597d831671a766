import { join } from 'node:path'
import { argv } from 'node:process'
import { sealEvents } from '../../../application/log/event-serialization.ts'
import { handleCommand, type WriteDeps } from '../../../application/log/handle-command.ts'
import { liveDecider } from '../../../domain/live/decider.ts'
import type { LiveCommand } from '../../../domain/live/commands.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import { profilesDecider, type ProfilesCommand } from '../../../domain/profiles/decider.ts'
import type { Decider } from '../../../domain/shared/decider.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { openSqliteKeyring } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { systemTimers as timers } from '../../../infrastructure/process/system-timers.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { after, liveCreated } from '../../support/events/sample-events.ts'
import { median } from '../../../bench/statistics.ts'
import { right } from '../../support/tools/right.ts'
import { createStreamStates } from '../../support/worlds/stream-states.ts'

// Grows one stream below the interface, and compares commands on it with commands on shorter streams.
// Arguments: data directory, `profiles` or `live`, number of changes.

const [, , directory = '', kind = '', changes = ''] = argv
const ROUNDS = 40
const LONG = 1
/** Changes of a stream that has just begun to have snapshots. */
const SHORT_CHANGES = 50
const HOTWORDS = Array.from({ length: 30 }, (_, index) => `hotword ${index} `.repeat(8))
const vocabularyOf = (count: number) => ({ prompt: `prompt ${count}`, hotwords: HOTWORDS })

interface Plain {
  readonly type: string
  readonly data: object
}

/** A kind of stream: its first event, its further events, and a command. */
interface Kind<State, Command, Event extends Plain> {
  readonly stream: (id: number) => string
  readonly decider: Decider<State, Command, Event, unknown>
  readonly first: (id: number) => Plain
  readonly next: (id: number, count: number) => Plain
  readonly command: (id: number, count: number) => Command
}

const at = after(0)
const settings = DEFAULT_ENGINE_SETTINGS
const profile = (id: number, count: number) =>
  ({ profileId: 1, userId: id, name: `name ${count}`, settings, at, vocabulary: vocabularyOf(count) })

const PROFILES: Kind<unknown, ProfilesCommand, Plain> = {
  stream: (id) => `profiles-${id}`,
  decider: profilesDecider as unknown as Decider<unknown, ProfilesCommand, Plain, unknown>,
  first: (id) => ({ type: 'ProfileAdded', data: profile(id, 0) }),
  next: (id, count) => ({ type: 'ProfileChanged', data: profile(id, count) }),
  command: (_id, count) => ({ type: 'ChangeProfile', profileId: 1, settings: {}, vocabulary: vocabularyOf(count), at }),
}
const LIVES: Kind<unknown, LiveCommand, Plain> = {
  stream: (id) => `live-${id}`,
  decider: liveDecider as unknown as Decider<unknown, LiveCommand, Plain, unknown>,
  first: (liveId) => liveCreated({ liveId, vocabulary: vocabularyOf(0) }),
  next: (liveId, count) => ({
    type: 'VocabularyChanged', data: { liveId, userId: 1, at, term: 1, vocabulary: vocabularyOf(count) },
  }),
  command: (_id, count) => ({ type: 'ChangeVocabulary', vocabulary: vocabularyOf(count), term: 1, at }),
}

const store = await openSqliteEventStore({ file: join(directory, 'events.sqlite') })
const keyring = await openSqliteKeyring({ file: join(directory, 'keyring.sqlite'), masterKey: new Uint8Array(32) })
const environment = createTestEnvironment()
const base = { store, keyring, environment, timers }
const restarted = (): WriteDeps & { readonly states: ReturnType<typeof createStreamStates> } =>
  ({ ...base, states: createStreamStates(base) })

const metadata = { correlationId: 'seed', causationId: 'seed', actor: 'seed', recordedAt: at }
const append = async (stream: string, events: ReadonlyArray<Plain>): Promise<void> => {
  const sealed = right(await sealEvents(keyring, stream)(events))
  right(await store.append(stream, 'any', sealed.map((event) => ({ ...event, id: environment.newId(), metadata }))))
}

const measure = async <Command>({ stream, decider, first, next, command }: Kind<unknown, Command, Plain>) => {
  const AT_ONCE = 50
  const grow = async (id: number, count: number): Promise<void> => {
    await append(stream(id), [first(id)])
    for (let from = 1; from <= count; from += AT_ONCE)
      await append(stream(id), Array.from({ length: AT_ONCE }, (_, index) => next(id, from + index)))
  }
  await grow(LONG, Number(changes))
  const [newId, shortId] = [(round: number) => LONG + round, (round: number) => LONG + ROUNDS + round]
  for (let round = 1; round <= ROUNDS; round++) {
    await grow(newId(round), 0)
    await grow(shortId(round), SHORT_CHANGES)
  }

  const timed = async (deps: WriteDeps, id: number, count: number): Promise<number> => {
    const begun = performance.now()
    const origin = { commandId: environment.newId(), correlationId: 'c', actor: 'a' }
    right(await handleCommand(deps)({ stream: stream(id), decider, command: command(id, count), ...origin }))
    return performance.now() - begun
  }
  const process = restarted()
  const whole = await timed(process, LONG, -1)
  await process.states.snapshots.idle()
  const [known, started, again, shorter]: ReadonlyArray<Array<number>> = [[], [], [], []]
  for (let round = 1; round <= ROUNDS; round++) {
    await timed(process, shortId(round), -1)
    await process.states.snapshots.idle()
    known?.push(await timed(process, LONG, -2 * round))
    started?.push(await timed(process, newId(round), -round))
    const later = restarted()
    again?.push(await timed(later, LONG, -2 * round - 1))
    shorter?.push(await timed(later, shortId(round), -2))
    await Promise.all([process, later].map(({ states }) => states.snapshots.idle()))
  }
  const [long, fresh, restartedLong, restartedShort] = [known, started, again, shorter].map((all = []) => median(all))
  return { whole, long, first: fresh, restartedLong, restartedShort }
}

const measured = kind === 'live' ? await measure(LIVES) : await measure(PROFILES)
process.stdout.write(`${JSON.stringify(measured)}\n`)
await store.close()
await keyring.close()
