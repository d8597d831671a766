import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { dataOf } from '../../support/events/stored-data.ts'

interface Placed {
  worker: string | null
  term: number
  readonly vram: number
}

interface Segments {
  last: number
  fence: number
}

/** Events that only the worker of a session appends; their metadata names its process. */
const BY_WORKER = ['SenderAttached', 'SenderDetached', 'SourceStarted', 'LiveStarted', 'LiveTakenOver']

/**
 * Checks the log after each append. No worker exceeds its capacity or gets a session whose model it lacks. Only one
 * process writes in a term: each worker of a session gets a higher term. After a fence no lower term writes. Segments
 * are numbered 1 to n.
 */
export const createWorkerLogRules = (capacity: number, offers: ReadonlyMap<string, ReadonlySet<string>>) => {
  const placed = new Map<number, Placed>()
  /** The incarnation (run of the process) of each joined worker. */
  const joined = new Map<string, unknown>()
  const needs = new Map<number, ReadonlyArray<string>>()
  const terms = new Map<number, number>()
  /** The process that wrote first in a term of a session, by `liveId term`. */
  const writers = new Map<string, string>()
  const segments = new Map<number, Segments>()
  const ended = new Set<number>()
  const violations: Array<string> = []

  const check = (holds: boolean, message: string): void => {
    if (!holds) violations.push(message)
  }
  const heldBy = (worker: string): number =>
    [...placed.values()].filter((placement) => placement.worker === worker).reduce((sum, { vram }) => sum + vram, 0)

  const writtenBy = (liveId: number, term: number, { type, metadata: { actor } }: StoredEvent): void => {
    if (!actor.startsWith('instance:')) return
    const key = `${liveId} ${term}`
    const writer = writers.get(key) ?? actor
    writers.set(key, writer)
    check(writer === actor, `${type} of session ${liveId} in term ${term} by ${actor}, whose writer is ${writer}`)
  }

  const checkPlacement = (liveId: number, worker: string): void => {
    check(
      needs.get(liveId)?.every((name) => offers.get(worker)?.has(name)) === true,
      `${worker} cannot run session ${liveId}`,
    )
    check(heldBy(worker) <= capacity, `${worker} holds ${heldBy(worker)} of ${capacity} MB`)
  }

  /** The restarted process keeps the sessions in their next terms, except for those that it gives up. */
  const onRestart = (worker: string, data: Readonly<Record<string, unknown>>): void => {
    const isGivenUp = new Set(data['waiting'] as ReadonlyArray<number>)
    check(joined.has(worker), `${worker} restarted but had not joined`)
    joined.set(worker, data['incarnation'])
    const held = [...placed].filter(([, placement]) => placement.worker === worker)
    for (const [liveId, placement] of held) {
      if (isGivenUp.has(liveId)) placement.worker = null
      else placement.term += 1
    }
    for (const [liveId, placement] of held) if (placement.worker !== null) checkPlacement(liveId, worker)
  }

  const onAdmission = (type: string, data: Readonly<Record<string, unknown>>): void => {
    const [liveId, worker] = [Number(data['liveId']), String(data['worker'])]
    if (type === 'WorkerJoined') joined.set(worker, data['incarnation'])
    if (type === 'WorkerRestarted') onRestart(worker, data)
    if (type === 'WorkerLeft') {
      check(joined.get(worker) === data['incarnation'], `${worker} left in an incarnation that had not joined`)
      joined.delete(worker)
      for (const placement of placed.values()) if (placement.worker === worker) placement.worker = null
    }
    if (type === 'Admitted') placed.set(liveId, { worker, term: 1, vram: Number(data['vram']) })
    if (type === 'Moved') {
      const placement = placed.get(liveId)
      check(
        placement !== undefined && Number(data['term']) === placement.term + 1,
        `session ${liveId} was moved into term ${String(data['term'])}`,
      )
      if (placement !== undefined) placed.set(liveId, { ...placement, worker, term: Number(data['term']) })
    }
    if (type === 'Released') {
      check(placed.delete(liveId), `session ${liveId} was released twice`)
      check(ended.has(liveId), `session ${liveId} was released before its end`)
    }
    if (type === 'Admitted') needs.set(liveId, data['needs'] as ReadonlyArray<string>)
    if (type === 'Admitted' || type === 'Moved') checkPlacement(liveId, worker)
  }

  const onLive = (event: StoredEvent, data: Readonly<Record<string, unknown>>): void => {
    const { type } = event
    const liveId = Number(data['liveId'])
    check(!ended.has(liveId), `${type} of session ${liveId} after its end`)
    const before = terms.get(liveId) ?? 1
    if (type === 'LiveTakenOver') {
      check(Number(data['term']) > before, `term ${String(data['term'])} of session ${liveId} after ${before}`)
      terms.set(liveId, Number(data['term']))
    }
    if (BY_WORKER.includes(type)) writtenBy(liveId, terms.get(liveId) ?? 1, event)
    if (['LiveFinished', 'LiveFailed', 'LiveAborted'].includes(type)) ended.add(liveId)
  }

  const onSegments = (event: StoredEvent, data: Readonly<Record<string, unknown>>): void => {
    const [liveId, term] = [Number(data['liveId']), Number(data['term'] ?? 1)]
    const { last, fence } = segments.get(liveId) ?? { last: 0, fence: 1 }
    writtenBy(liveId, term, event)
    if (event.type === 'SegmentsFenced') {
      check(term > fence, `fence ${term} of session ${liveId} after fence ${fence}`)
      segments.set(liveId, { last, fence: term })
      return
    }
    const segment = Number(data['segment'])
    check(term === fence, `segment ${segment} of session ${liveId} in term ${term} after fence ${fence}`)
    check(segment === last + 1, `segment ${segment} of session ${liveId} after ${last}`)
    segments.set(liveId, { last: segment, fence })
  }

  return {
    observe: (stream: string, event: StoredEvent): void => {
      const data = dataOf(event)
      if (stream === 'admission') onAdmission(event.type, data)
      if (stream.startsWith('live-')) onLive(event, data)
      if (stream.startsWith('segments-')) onSegments(event, data)
    },
    joined: (): ReadonlyMap<string, unknown> => joined,
    violations: (): ReadonlyArray<string> => violations,
    placements: (): ReadonlyMap<number, Readonly<Placed>> => placed,
    isOver: (liveId: number): boolean => ended.has(liveId),
    segments: (): number => [...segments.values()].reduce((sum, { last }) => sum + last, 0),
  }
}
