import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { fold } from '../shared/decider.ts'
import type { Decider } from '../shared/decider.ts'
import type { AdmissionEvent } from './events.ts'
import { lanesFor, mostOf } from './compute.ts'
import { chooseRoom, isOffered, placeWaiting, roomsOf } from './placement.ts'
import type { Candidate, Offering } from './placement.ts'
import { evolve, initialState, liveIdOfCommand } from './state.ts'
import type { AdmissionState, Worker } from './state.ts'

/** All but `Drain` may give lives that wait a worker, or name those that may be given one. */
interface Placed {
  /** What the asker knows of the workers. */
  readonly offering?: Offering | undefined
}

/**
 * Whoever leaves names the incarnation of the worker, so that of several the first counts, and none that comes after
 * the worker has joined anew.
 */
interface OfWorker {
  readonly worker: string
  /** Null for the worker of a version whose workers did not join. */
  readonly incarnation: string | null
  readonly at: string
}

export type AdmissionCommand = Placed & (
  /** Whoever had the name before leaves, and so does a worker of a version whose workers did not join. */
  | {
      readonly type: 'Join'
      readonly worker: string
      readonly incarnation: string
      /** Megabytes. */
      readonly vram: number
      readonly at: string
    }
  | ({ readonly type: 'Drain' } & OfWorker)
  | ({ readonly type: 'Leave'; readonly reason: 'lost' | 'stopped' } & OfWorker)
  /** Gives lives that wait the workers that have room: what the append of a join or a leave could not hold. */
  | { readonly type: 'Place'; readonly at: string }
  | {
      readonly type: 'Admit'
      readonly commandId: string
      readonly userId: number
      /** Megabytes. */
      readonly vram: number
      /** Names of the model and, behind it, of the translators. */
      readonly needs: ReadonlyArray<string>
      readonly candidates: ReadonlyArray<Candidate>
      /** The user's quota of open lives. */
      readonly maxSessions: number
      /** The process that will create the live. */
      readonly instance: string
      readonly at: string
    }
  /** `term` is the one that the asker saw; `to` a worker, null for any other than the present one. */
  | {
      readonly type: 'Move'
      readonly liveId: number
      readonly term: number
      readonly to: string | null
      readonly at: string
    }
  | { readonly type: 'Release'; readonly liveId: number; readonly at: string }
)

export type AdmissionRefusal =
  | { readonly _tag: 'QuotaReached'; readonly maximum: number }
  /** Megabytes; `free` is the most that any one worker has left. */
  | { readonly _tag: 'InsufficientVram'; readonly needed: number; readonly free: number }
  /** The most that any worker with the memory has left. */
  | { readonly _tag: 'InsufficientCompute'; readonly neededLanes: number; readonly freeLanes: number }
  /** The live was moved since the asker looked; `term` is the present one. */
  | { readonly _tag: 'MovedSince'; readonly term: number }

type Decision = Either<AdmissionRefusal, ReadonlyArray<AdmissionEvent>>
type CommandOf<Type extends AdmissionCommand['type']> = Extract<AdmissionCommand, { readonly type: Type }>

const NOTHING: Decision = E.right([])

/** The events, and the moves of lives that wait to the room that they make; who joins is filled before others. */
const andPlace = (
  events: ReadonlyArray<AdmissionEvent>,
  state: AdmissionState,
  { at, offering, first }: Placed & { readonly at: string; readonly first?: string },
): Decision => {
  const placing = { at, offering, ...(first !== undefined && { first }) }
  return E.right([...events, ...placeWaiting(fold({ initialState, evolve }, events, state), placing)])
}

const isThe = ({ worker, incarnation }: OfWorker | Worker) => (one: Worker): boolean =>
  one.worker === worker && one.incarnation === incarnation

const join = (command: CommandOf<'Join'>, state: AdmissionState): Decision => {
  const { worker, incarnation, vram, at } = command
  const isEarlier = (one: Worker): boolean =>
    one.worker === worker ? one.incarnation !== incarnation : one.incarnation === null
  const leave = (one: Worker): AdmissionEvent => {
    const reason = one.worker === worker ? 'rejoined' : 'lost'
    return { type: 'WorkerLeft', data: { worker: one.worker, incarnation: one.incarnation, reason, at } }
  }
  const isJoined = state.workers.some((one) => isThe({ worker, incarnation, at })(one) && one.vram === vram)
  const joined: AdmissionEvent = { type: 'WorkerJoined', data: { worker, incarnation, vram, at } }
  const events = [...state.workers.filter(isEarlier).map(leave), ...(isJoined ? [] : [joined])]
  return andPlace(events, state, { ...command, first: worker })
}

const drain = (command: CommandOf<'Drain'>, state: AdmissionState): Decision => {
  const { worker, incarnation, at } = command
  const isUp = state.workers.some((one) => isThe(command)(one) && !one.isDraining)
  return isUp ? E.right([{ type: 'WorkerDraining', data: { worker, incarnation, at } }]) : NOTHING
}

const leave = (command: CommandOf<'Leave'>, state: AdmissionState): Decision => {
  const { worker, incarnation, reason, at } = command
  const left: AdmissionEvent = { type: 'WorkerLeft', data: { worker, incarnation, reason, at } }
  return state.workers.some(isThe(command)) ? andPlace([left], state, command) : NOTHING
}

/** Quota before memory, memory before compute: the first that lacks is told. */
const admit = (command: CommandOf<'Admit'>, state: AdmissionState): Decision => {
  const { commandId, userId, vram, needs, candidates, maxSessions, instance, at } = command
  if (O.isSome(liveIdOfCommand(state, commandId))) return NOTHING
  const sessions = state.open.filter((reservation) => reservation.userId === userId).length
  if (sessions >= maxSessions) return E.left({ _tag: 'QuotaReached', maximum: maxSessions })
  const named = new Map(candidates.map((candidate) => [candidate.worker, candidate]))
  const rooms = roomsOf(state).filter(({ worker }) => named.has(worker))
  const roomy = rooms.filter(({ free }) => free >= vram)
  if (roomy.length === 0) {
    return E.left({ _tag: 'InsufficientVram', needed: vram, free: Math.max(0, ...rooms.map(({ free }) => free)) })
  }
  const lanes = roomy.map((one) => ({ one, ...lanesFor(state, named.get(one.worker), needs[0], at) }))
  const able = lanes.filter(({ neededLanes, freeLanes }) => neededLanes <= freeLanes).map(({ one }) => one)
  const lanesOf = new Map(lanes.map(({ one, freeLanes }) => [one.worker, freeLanes]))
  const room = chooseRoom(
    able, vram, (worker) => named.get(worker)?.rank ?? Infinity, (worker) => -(lanesOf.get(worker) ?? 0),
  )
  if (room === undefined) return E.left({ _tag: 'InsufficientCompute', ...mostOf(lanes) })
  const data = { liveId: state.lastLiveId + 1, userId, worker: room.worker, vram, needs, instance, commandId, at }
  return E.right([{ type: 'Admitted', data }])
}

const move = (command: CommandOf<'Move'>, state: AdmissionState): Decision => {
  const { liveId, term, to, at, offering } = command
  const held = state.open.find((reservation) => reservation.liveId === liveId)
  if (held === undefined) return NOTHING
  if (held.term !== term) return E.left({ _tag: 'MovedSince', term: held.term })
  const isAsked = (worker: string): boolean => worker !== held.worker && (to === null || worker === to)
  const others = roomsOf(state).filter(({ worker }) => isAsked(worker) && isOffered(offering, worker, held.needs))
  const room = chooseRoom(others, held.vram)
  if (room === undefined) {
    const free = Math.max(0, ...others.map((other) => other.free))
    return E.left({ _tag: 'InsufficientVram', needed: held.vram, free })
  }
  return andPlace([{ type: 'Moved', data: { liveId, worker: room.worker, term: term + 1, at } }], state, command)
}

const release = (command: CommandOf<'Release'>, state: AdmissionState): Decision => {
  const { liveId, at } = command
  return state.open.some((reservation) => reservation.liveId === liveId)
    ? andPlace([{ type: 'Released', data: { liveId, at } }], state, command)
    : NOTHING
}

const decide = (command: AdmissionCommand, state: AdmissionState): Decision => {
  switch (command.type) {
    case 'Join':
      return join(command, state)
    case 'Drain':
      return drain(command, state)
    case 'Leave':
      return leave(command, state)
    case 'Place':
      return andPlace([], state, command)
    case 'Admit':
      return admit(command, state)
    case 'Move':
      return move(command, state)
    case 'Release':
      return release(command, state)
  }
}

/**
 * Who may run, and where: megabytes per worker, open lives per user, and the live's id, decided together. A capacity
 * lowered below what is reserved evicts nobody; nothing more is admitted until it fits again.
 */
export const admissionDecider: Decider<AdmissionState, AdmissionCommand, AdmissionEvent, AdmissionRefusal> = {
  initialState,
  evolve,
  decide,
}
