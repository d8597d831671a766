import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { type CommandOf, decideBy, type DeciderByCommand, type Decisions, fold } from '../shared/decider.ts'
import type { AdmissionEvent } from './events.ts'
import { type Lanes, lanesFor, withMostFreeLanes } from './compute.ts'
import { mostMemory } from './worker-engines.ts'
import { type Candidate, canRun, chooseRoom, type Offering, placeWaiting, type Room, roomsOf } from './placement.ts'
import {
  type AdmissionState, evolve, initialState, liveIdOfCommand, openOf, type Reservation, type Worker,
} from './state.ts'

/** Most commands also assign workers to waiting sessions. `Admit` and `Drain` do not. */
interface Placed {
  /** The models that each worker has, as the sender of the command knows them. */
  readonly offering?: Offering | undefined
}

/**
 * `incarnation`: id of one run of the worker's process. Another process with the same name has another incarnation, so
 * a repeated or late command changes nothing once the worker has left or joined again.
 */
interface OfWorker {
  readonly worker: string
  /** Null for workers of early versions, which did not join. */
  readonly incarnation: string | null
}

export type AdmissionCommand = Placed & (
  /** Adds a worker. It also replaces an earlier process with the same name, and removes workers of early versions. */
  | {
      readonly type: 'Join'
      readonly worker: string
      readonly incarnation: string
      /** Megabytes. */
      readonly vram: number
      /** True when all processes know the event `WorkerRestarted`, with which an earlier process is replaced. */
      readonly knowsRestart: boolean
    }
  | ({ readonly type: 'Drain' } & OfWorker)
  | ({ readonly type: 'Leave'; readonly reason: 'lost' | 'stopped' } & OfWorker)
  /** Assigns the waiting sessions that were left over because one append holds only a limited number of moves. */
  | { readonly type: 'Place' }
  | {
      readonly type: 'Admit'
      readonly commandId: string
      readonly userId: number
      /** Megabytes. */
      readonly vram: number
      /** Names of the model and, after it, of the translators. */
      readonly needs: ReadonlyArray<string>
      readonly candidates: ReadonlyArray<Candidate>
      /** The user's quota of open sessions. */
      readonly maxSessions: number
      /** The process that will create the session. */
      readonly instance: string
    }
  /** `term`: the term that the sender of the command saw. `to`: null means any worker except the present one. */
  | {
      readonly type: 'Move'
      readonly liveId: number
      readonly term: number
      readonly to: string | null
    }
  | { readonly type: 'Release'; readonly liveId: number }
)

export interface QuotaReached { readonly _tag: 'QuotaReached'; readonly maximum: number }
/** No process that has the needed models accepts sessions: none runs, or none reaches the event store. */
export interface NoWorker { readonly _tag: 'NoWorker' }
/** Megabytes. `free`: the free memory of the worker with the most free memory. */
export interface InsufficientVram { readonly _tag: 'InsufficientVram'; readonly needed: number; readonly free: number }
/**
 * A lane of the engine runs one model pass at a time. A session needs a part of a lane. The lanes are those of the
 * worker with the most free lanes, among the workers with enough memory.
 */
export interface InsufficientCompute {
  readonly _tag: 'InsufficientCompute'
  readonly neededLanes: number
  readonly freeLanes: number
}
/** The session was moved in the meantime. `term`: the present term. */
interface MovedSince { readonly _tag: 'MovedSince'; readonly term: number }

export interface AdmissionRefusals {
  readonly Admit: QuotaReached | NoWorker | InsufficientVram | InsufficientCompute
  readonly Move: MovedSince | InsufficientVram
  readonly Join: never
  readonly Drain: never
  readonly Leave: never
  readonly Place: never
  readonly Release: never
}

type Rules = Decisions<AdmissionState, AdmissionCommand, AdmissionEvent, AdmissionRefusals>
type Decision = Either<never, ReadonlyArray<AdmissionEvent>>
type Join = CommandOf<AdmissionCommand, 'Join'>

const NOTHING: Decision = E.right([])

/** Adds events that move waiting sessions into the memory that `events` free. The worker `first` is filled first. */
const withPlacements = (
  events: ReadonlyArray<AdmissionEvent>,
  state: AdmissionState,
  { at, offering, first }: Placed & { readonly at: string; readonly first?: string },
): Decision => {
  const placing = { at, offering, ...(first !== undefined && { first }) }
  return E.right([...events, ...placeWaiting(fold({ initialState, evolve }, events, state), placing)])
}

const isSameWorker = ({ worker, incarnation }: Pick<OfWorker, 'worker' | 'incarnation'>) => (other: Worker): boolean =>
  other.worker === worker && other.incarnation === incarnation

/** Returns the sessions of a restarted worker for which it has no memory or no models any more. */
const givenUp = (command: Join, state: AdmissionState): ReadonlyArray<number> => {
  const { worker, offering } = command
  let free = command.vram
  const isGivenUp = ({ vram, needs }: Reservation): boolean => {
    if (vram > free || !canRun(offering, worker, needs)) return true
    free -= vram
    return false
  }
  return openOf(state, worker).filter(isGivenUp).map(({ liveId }) => liveId)
}

const join: Rules['Join'] = (command, state) => {
  const { worker, incarnation, vram, at } = command
  const isEarlier = (other: Worker): boolean => other.worker === worker && other.incarnation !== incarnation
  const restarts = command.knowsRestart && state.workers.some(isEarlier)
  const isReplaced = (other: Worker): boolean =>
    other.worker === worker ? isEarlier(other) && !restarts : other.incarnation === null
  const leftEvent = (other: Worker): AdmissionEvent => {
    const reason = other.worker === worker ? 'rejoined' : 'lost'
    return { type: 'WorkerLeft', data: { worker: other.worker, incarnation: other.incarnation, reason, at } }
  }
  const isJoined = state.workers.filter(isSameWorker(command)).some((known) => known.vram === vram)
  const joined: AdmissionEvent = restarts
    ? { type: 'WorkerRestarted', data: { worker, incarnation, vram, waiting: givenUp(command, state), at } }
    : { type: 'WorkerJoined', data: { worker, incarnation, vram, at } }
  const events = [...state.workers.filter(isReplaced).map(leftEvent), ...(isJoined ? [] : [joined])]
  return withPlacements(events, state, { ...command, first: worker })
}

const drain: Rules['Drain'] = (command, state) => {
  const { worker, incarnation, at } = command
  const isAccepting = state.workers.filter(isSameWorker(command)).some(({ isDraining }) => !isDraining)
  return isAccepting ? E.right([{ type: 'WorkerDraining', data: { worker, incarnation, at } }]) : NOTHING
}

const leave: Rules['Leave'] = (command, state) => {
  const { worker, incarnation, reason, at } = command
  const left: AdmissionEvent = { type: 'WorkerLeft', data: { worker, incarnation, reason, at } }
  return state.workers.some(isSameWorker(command)) ? withPlacements([left], state, command) : NOTHING
}

/** Checks the quota, then for workers, then the memory, then the compute. Refuses with the first check that fails. */
const admit: Rules['Admit'] = (command, state) => {
  const { commandId, userId, vram, needs, candidates, maxSessions, instance, at } = command
  if (O.isSome(liveIdOfCommand(state, commandId))) return NOTHING
  const sessions = state.open.filter((reservation) => reservation.userId === userId).length
  if (sessions >= maxSessions) return E.left({ _tag: 'QuotaReached', maximum: maxSessions })
  const candidateOf = new Map(candidates.map((candidate) => [candidate.worker, candidate]))
  const onOneEngine = ({ worker, free }: Room): Room =>
    ({ worker, free: Math.min(free, mostMemory(state, worker, candidateOf.get(worker)?.compute?.engines)) })
  const rooms = roomsOf(state).filter(({ worker }) => candidateOf.has(worker)).map(onOneEngine)
  if (rooms.length === 0) return E.left({ _tag: 'NoWorker' })
  const largeEnough = rooms.filter(({ free }) => free >= vram)
  if (largeEnough.length === 0) {
    return E.left({ _tag: 'InsufficientVram', needed: vram, free: Math.max(0, ...rooms.map(({ free }) => free)) })
  }
  const lanesOn = ({ worker }: Room): Lanes =>
    lanesFor(state, { ...candidateOf.get(worker), worker, vram }, needs[0], at)
  const lanes = largeEnough.map((room) => ({ room, ...lanesOn(room) }))
  const fastEnough = lanes.filter(({ neededLanes, freeLanes }) => neededLanes <= freeLanes).map(({ room }) => room)
  const lanesOf = new Map(lanes.map(({ room, freeLanes }) => [room.worker, freeLanes]))
  const room = chooseRoom(
    fastEnough, vram, (worker) => candidateOf.get(worker)?.rank ?? Infinity, (worker) => -(lanesOf.get(worker) ?? 0),
  )
  if (room === undefined) return E.left({ _tag: 'InsufficientCompute', ...withMostFreeLanes(lanes) })
  const data = { liveId: state.lastLiveId + 1, userId, worker: room.worker, vram, needs, instance, commandId, at }
  return E.right([{ type: 'Admitted', data }])
}

const move: Rules['Move'] = (command, state) => {
  const { liveId, term, to, at, offering } = command
  const held = state.open.find((reservation) => reservation.liveId === liveId)
  if (held === undefined) return NOTHING
  if (held.term !== term) return E.left({ _tag: 'MovedSince', term: held.term })
  const isTarget = (worker: string): boolean => worker !== held.worker && (to === null || worker === to)
  const others = roomsOf(state).filter(({ worker }) => isTarget(worker) && canRun(offering, worker, held.needs))
  const room = chooseRoom(others, held.vram)
  if (room === undefined) {
    const free = Math.max(0, ...others.map((other) => other.free))
    return E.left({ _tag: 'InsufficientVram', needed: held.vram, free })
  }
  return withPlacements([{ type: 'Moved', data: { liveId, worker: room.worker, term: term + 1, at } }], state, command)
}

const release: Rules['Release'] = (command, state) => {
  const { liveId, at } = command
  return state.open.some((reservation) => reservation.liveId === liveId)
    ? withPlacements([{ type: 'Released', data: { liveId, at } }], state, command)
    : NOTHING
}

const place: Rules['Place'] = (command, state) => withPlacements([], state, command)

/**
 * Decides which sessions may run, on which worker and with which id. It counts the megabytes of each worker and the
 * open sessions of each user. A worker with less memory than its sessions reserve keeps them and gets no new sessions.
 */
export const admissionDecider: DeciderByCommand<
  AdmissionState, AdmissionCommand, AdmissionEvent, AdmissionRefusals
> = {
  initialState,
  evolve,
  decide: decideBy({
    Join: join, Drain: drain, Leave: leave, Place: place, Admit: admit, Move: move, Release: release,
  }),
}
