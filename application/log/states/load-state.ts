import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { type Decider, fold } from '../../../domain/shared/decider.ts'
import type { SnapshotFormat } from '../../../domain/shared/snapshot.ts'
import { yieldToOthers } from '../../concurrency.ts'
import { isUnreadable } from '../../refusals.ts'
import type { EventStore, Revision, StoredEvent, StoreUnavailable } from '../../ports/event-store.ts'
import type { Keyring, KeyringUnavailable } from '../../ports/keyring.ts'
import { openEach, openReadable, type PlainEvent, refusalOf, type Unreadable } from '../event-serialization.ts'
import { readUndamaged } from '../read-undamaged.ts'
import { type Known, type KnownStates, type Recorded, roughSize } from './known-states.ts'
import type { StreamSnapshots } from './stream-snapshots.ts'

/** What a process knows about streams without reading them from their beginning. */
export interface StreamStates {
  readonly known: KnownStates
  readonly snapshots: StreamSnapshots
}

export interface LoadDeps {
  readonly store: Pick<EventStore, 'read'>
  readonly keyring: Pick<Keyring, 'open'>
  /** Absent in programs that run once: they read every stream from its beginning. */
  readonly states?: StreamStates | undefined
}

type Folded<State, Event> = Pick<Decider<State, never, Event, unknown>, 'initialState' | 'evolve' | 'snapshots'>

type LoadFailure = StoreUnavailable | Unreadable | KeyringUnavailable

interface LoadOptions<State, Event> {
  /** An earlier result, from which the load continues. */
  readonly base?: Known<State, Event> | undefined
  /** All events of this command are among `recent`. */
  readonly commandId?: string
  /** The last event to fold. Default: the newest. */
  readonly until?: Revision
}

/** Streams are read in pages, so other work runs meanwhile and memory stays small. Longer ones may have snapshots. */
const FIRST_PAGE_EVENTS = 8
const PAGE_EVENTS = 100
const RECENT_EVENTS = 4
/** A snapshot is due after this many events, or when they are this many times as large as the state. */
const DUE = { events: 500, size: 16 * 1024, times: 4 }
const NOTHING = { events: 0, size: 0 }

const nothingOf = <State, Event>({ initialState: state }: Folded<State, Event>): Known<State, Event> =>
  ({ state, revision: null, recent: [], unsaved: NOTHING, isWhole: true })

export const advanced = <State, Event>(
  decider: Folded<State, Event>,
  known: Known<State, Event>,
  records: ReadonlyArray<Recorded<Event>>,
  commandId?: string,
): Known<State, Event> => {
  const all = [...known.recent, ...records]
  return {
    ...known,
    state: fold(decider, records.map(({ event }) => event), known.state),
    revision: records.at(-1)?.stored.revision ?? known.revision,
    recent: all.filter(({ stored }, index) =>
      index >= all.length - RECENT_EVENTS || stored.metadata.causationId === commandId),
    unsaved: {
      events: known.unsaved.events + records.length,
      size: records.reduce((size, { stored }) => size + roughSize(stored.data), known.unsaved.size),
    },
  }
}

const isDue = <State, Event>({ state, revision, unsaved }: Known<State, Event>): boolean => {
  if (revision === null || revision < FIRST_PAGE_EVENTS) return false
  if (unsaved.events >= DUE.events) return true
  return unsaved.size >= DUE.size && unsaved.size >= DUE.times * roughSize(state)
}

/** Keeps a state in memory, and in a snapshot when one is due. */
export const keepState = <State, Event>(
  { states }: LoadDeps, stream: string, format: SnapshotFormat<State> | undefined, known: Known<State, Event>,
): Known<State, Event> => {
  const { state, revision, isWhole } = known
  if (states === undefined || format === undefined || revision === null) return known
  // A missing key may be restored. So a state is kept only if nothing in it, or nothing that led to it, was erased.
  if (!isWhole && format.keyOf(state) !== null) return known
  const newest = known.recent.at(-1)
  const isSaved = newest !== undefined && isDue(known)
  if (isSaved) states.snapshots.save(stream, format, { state, revision, eventId: newest.stored.id })
  const kept = isSaved ? { ...known, unsaved: NOTHING } : known
  states.known.keep(stream, kept, format.keyOf(state))
  return kept
}

/** Decrypts a page. Fails at the first unusable event, because that event could change a decision. */
const openPage = async <Event>(
  { keyring }: LoadDeps, stored: ReadonlyArray<StoredEvent>,
): Promise<Either<KeyringUnavailable | Unreadable, Pick<Known<never, Event>, 'recent' | 'isWhole'>>> => {
  const opened = await openEach(keyring)(stored)
  if (E.isLeft(opened)) return opened
  const recent: Array<Recorded<Event>> = []
  let isWhole = true
  for (const [index, event] of stored.entries()) {
    const each = opened.right[index]
    if (each === undefined) throw new Error('an event was not opened')
    if (E.isLeft(each)) return E.left(refusalOf(event, each.left))
    const { type, data } = each.right
    // Safe: the codecs of the stream's own events have decoded them.
    recent.push({ event: { type, data } as Event, stored: event })
    isWhole &&= each.right.isWhole
  }
  return E.right({ recent, isWhole })
}

interface Page<State, Event> {
  readonly known: Known<State, Event>
  /** No page follows. */
  readonly isEnd: boolean
}

interface PageOptions<State, Event> extends LoadOptions<State, Event> {
  readonly limit: number
}

const fetchPage = <State, Event>(
  { store }: LoadDeps, stream: string, after: Revision | null, { limit, until = Infinity }: PageOptions<State, Event>,
) => {
  const from = (after ?? -1) + 1
  return store.read(stream, { from, limit: Math.min(limit, until - from + 1) })
}

const foldPage = async <State, Event>(
  deps: LoadDeps, decider: Folded<State, Event>, known: Known<State, Event>, stored: ReadonlyArray<StoredEvent>,
  { limit, until, commandId }: PageOptions<State, Event>,
): Promise<Either<LoadFailure, Page<State, Event>>> => {
  const opened = await openPage<Event>(deps, stored)
  if (E.isLeft(opened)) return opened
  const { recent, isWhole } = opened.right
  const next = { ...advanced(decider, known, recent, commandId), isWhole: known.isWhole && isWhole }
  return E.right({ known: next, isEnd: recent.length < limit || next.revision === until })
}

/** Returns the newest snapshot up to an event, and a page of later events. Null: no snapshot can be used. */
const fromSnapshot = async <State, Event>(
  deps: LoadDeps, stream: string, decider: Folded<State, Event>, options: PageOptions<State, Event>,
): Promise<Either<LoadFailure, Page<State, Event> | null>> => {
  const { until = Infinity } = options
  const { snapshots: format } = decider
  const saved = (format && (await deps.states?.snapshots.find(stream, format, until))) ?? E.right(null)
  if (E.isLeft(saved) || saved.right === null) return E.map(() => null)(saved)
  const { state, revision, eventId } = saved.right
  const stored = await fetchPage(deps, stream, revision - 1, options)
  if (E.isLeft(stored)) return stored
  const [first, ...later] = stored.right
  // An older copy of the log may continue in another way than the log that the snapshot is of.
  if (first?.id !== eventId) return E.right(null)
  const opened = await openPage<Event>(deps, [first])
  if (E.isLeft(opened)) return opened
  const known = { ...opened.right, state, revision, unsaved: NOTHING }
  return await foldPage(deps, decider, known, later, { ...options, limit: options.limit - 1 })
}

/** Reads and folds the first page after what is remembered. Of a longer stream, returns the newest snapshot instead. */
const readFirst = async <State, Event>(
  deps: LoadDeps, stream: string, decider: Folded<State, Event>, { base, ...further }: LoadOptions<State, Event>,
): Promise<Either<LoadFailure, Page<State, Event>>> => {
  const options = { ...further, limit: FIRST_PAGE_EVENTS }
  const { until = Infinity } = options
  const remembered = base ?? (decider.snapshots && deps.states?.known.get<State, Event>(stream))
  const isEarlier = remembered !== undefined && (remembered.revision ?? Infinity) <= until
  const begin = isEarlier ? remembered : nothingOf(decider)
  const page = await fetchPage(deps, stream, begin.revision, options)
  if (E.isLeft(page)) return page
  if (page.right.length === FIRST_PAGE_EVENTS && begin.revision === null) {
    const saved = await fromSnapshot(deps, stream, decider, { ...options, limit: PAGE_EVENTS })
    if (E.isLeft(saved)) return saved
    if (saved.right !== null) return E.right(saved.right)
  }
  return await foldPage(deps, decider, begin, page.right, options)
}

/**
 * Reads and folds a stream. It begins with the state in memory or in a snapshot, so it reads only later events. A
 * missing stream gives the initial state.
 */
export const loadState =
  (deps: LoadDeps) =>
  async <State, Event extends PlainEvent>(
    stream: string,
    decider: Folded<State, Event>,
    options: LoadOptions<State, Event> = {},
  ): Promise<Either<LoadFailure, Known<State, Event>>> => {
    let page = await readFirst(deps, stream, decider, options)
    while (E.isRight(page) && !page.right.isEnd) {
      await yieldToOthers()
      const further = { ...options, limit: PAGE_EVENTS }
      const stored = await fetchPage(deps, stream, page.right.known.revision, further)
      page = E.isLeft(stored) ? stored : await foldPage(deps, decider, page.right.known, stored.right, further)
    }
    if (E.isLeft(page)) return page
    const { known } = page.right
    return E.right(options.until === undefined ? keepState(deps, stream, decider.snapshots, known) : known)
  }

/** Reads and folds the usable events of a stream and skips the others. Do not use it for decisions. */
export const loadReadable =
  (deps: LoadDeps) =>
  async <State, Event extends PlainEvent>(
    stream: string,
    decider: Folded<State, Event>,
  ): Promise<Either<StoreUnavailable | KeyringUnavailable, Pick<Known<State, Event>, 'state' | 'revision'>>> => {
    const loaded = await loadState(deps)<State, Event>(stream, decider)
    if (E.isRight(loaded)) return loaded
    if (!isUnreadable(loaded.left)) return E.left(loaded.left as StoreUnavailable | KeyringUnavailable)
    const read = await readUndamaged(deps.store, stream)
    if (E.isLeft(read)) return read
    const { events } = read.right
    const opened = await openReadable(deps.keyring)(events)
    if (E.isLeft(opened)) return opened
    const state = fold(decider, opened.right as ReadonlyArray<unknown> as ReadonlyArray<Event>)
    return E.right({ state, revision: events.at(-1)?.revision ?? null })
  }
