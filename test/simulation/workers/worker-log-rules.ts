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

/** What a worker says of a live that it runs; its metadata names its process. */
const BY_WORKER = ['SenderAttached', 'SenderDetached', 'SourceStarted', 'LiveStarted', 'LiveTakenOver']

/**
 * What must hold after every single append of several workers, told from nothing but the log, in its order: no worker is
 * given more than it has, nor a live whose model it has not, one process writes in a term, nothing of a lower one stands behind a fence, segments count 1..n.
 */
export const createWorkerLogRules = (capacity: number, offers: ReadonlyMap<string, ReadonlySet<string>>) => {
  const placed = new Map<number, Placed>()
  /** Which run has a worker's name. */
  const joined = new Map<string, unknown>()
  const needs = new Map<number, ReadonlyArray<string>>()
  const terms = new Map<number, number>()
  /** Which process wrote first in a term of a live, by `live term`. */
  const writers = new Map<string, string>()
  const segments = new Map<number, Segments>()
  const over = new Set<number>()
  const violations: Array<string> = []

  const check = (holds: boolean, what: string): void => {
    if (!holds) violations.push(what)
  }
  const heldBy = (worker: string): number =>
    [...placed.values()].filter((one) => one.worker === worker).reduce((sum, { vram }) => sum + vram, 0)

  const writtenBy = (liveId: number, term: number, { type, metadata: { actor } }: StoredEvent): void => {
    if (!actor.startsWith('instance:')) return
    const key = `${liveId} ${term}`
    const writer = writers.get(key) ?? actor
    writers.set(key, writer)
    check(writer === actor, `${type} of live ${liveId} in term ${term} by ${actor}, whose writer is ${writer}`)
  }

  const given = (liveId: number, worker: string): void => {
    check(
      needs.get(liveId)?.every((name) => offers.get(worker)?.has(name)) === true,
      `${worker} cannot run live ${liveId}`,
    )
    check(heldBy(worker) <= capacity, `${worker} holds ${heldBy(worker)} of ${capacity} MB`)
  }

  const onAdmission = (type: string, data: Readonly<Record<string, unknown>>): void => {
    const [liveId, worker] = [Number(data['liveId']), String(data['worker'])]
    if (type === 'WorkerJoined') joined.set(worker, data['incarnation'])
    if (type === 'WorkerLeft') {
      check(joined.get(worker) === data['incarnation'], `${worker} left for a run that had not its name`)
      joined.delete(worker)
      for (const one of placed.values()) if (one.worker === worker) one.worker = null
    }
    if (type === 'Admitted') placed.set(liveId, { worker, term: 1, vram: Number(data['vram']) })
    if (type === 'Moved') {
      const one = placed.get(liveId)
      check(
        one !== undefined && Number(data['term']) === one.term + 1,
        `live ${liveId} was moved into term ${String(data['term'])}`,
      )
      if (one !== undefined) placed.set(liveId, { ...one, worker, term: Number(data['term']) })
    }
    if (type === 'Released') {
      check(placed.delete(liveId), `live ${liveId} was released twice`)
      check(over.has(liveId), `live ${liveId} was released before its end`)
    }
    if (type === 'Admitted') needs.set(liveId, data['needs'] as ReadonlyArray<string>)
    if (type === 'Admitted' || type === 'Moved') given(liveId, worker)
  }

  const onLive = (event: StoredEvent, data: Readonly<Record<string, unknown>>): void => {
    const { type } = event
    const liveId = Number(data['liveId'])
    check(!over.has(liveId), `${type} of live ${liveId} after its end`)
    const before = terms.get(liveId) ?? 1
    if (type === 'LiveTakenOver') {
      check(Number(data['term']) > before, `term ${String(data['term'])} of live ${liveId} after ${before}`)
      terms.set(liveId, Number(data['term']))
    }
    if (BY_WORKER.includes(type)) writtenBy(liveId, terms.get(liveId) ?? 1, event)
    if (['LiveFinished', 'LiveFailed', 'LiveAborted'].includes(type)) over.add(liveId)
  }

  const onSegments = (event: StoredEvent, data: Readonly<Record<string, unknown>>): void => {
    const [liveId, term] = [Number(data['liveId']), Number(data['term'] ?? 1)]
    const { last, fence } = segments.get(liveId) ?? { last: 0, fence: 1 }
    writtenBy(liveId, term, event)
    if (event.type === 'SegmentsFenced') {
      check(term > fence, `fence ${term} of live ${liveId} behind fence ${fence}`)
      segments.set(liveId, { last, fence: term })
      return
    }
    const segment = Number(data['segment'])
    check(term === fence, `segment ${segment} of live ${liveId} in term ${term} behind fence ${fence}`)
    check(segment === last + 1, `segment ${segment} of live ${liveId} after ${last}`)
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
    isOver: (liveId: number): boolean => over.has(liveId),
    segments: (): number => [...segments.values()].reduce((sum, { last }) => sum + last, 0),
  }
}
