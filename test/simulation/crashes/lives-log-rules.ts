import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { dataOf } from '../../support/events/stored-data.ts'

interface Reserved {
  readonly userId: number
  readonly vram: number
  readonly term: number
}

type LiveStatus = 'pending' | 'active' | 'ended' | 'aborted'

const isOpen = (status: LiveStatus | undefined): boolean => status === 'pending' || status === 'active'

/**
 * Checks the rules after each append to `admission`, `live-*` and `listener-token-*`. Events must come in log order.
 * `violations` returns the broken rules.
 */
export const createLogRules = (capacity: number, maxSessions: number) => {
  const reserved = new Map<number, Reserved>()
  const admittedIds = new Set<number>()
  const lives = new Map<number, LiveStatus>()
  const liveOfCommand = new Map<string, number>()
  const ownerOfToken = new Map<string, number>()
  const eventIds = new Set<string>()
  const violations: Array<string> = []

  const check = (holds: boolean, message: string): void => {
    if (!holds) violations.push(message)
  }
  const total = (): number => [...reserved.values()].reduce((sum, { vram }) => sum + vram, 0)

  const admitted = (liveId: number, entry: Reserved): void => {
    check(!admittedIds.has(liveId), `session id ${liveId} was assigned twice`)
    admittedIds.add(liveId)
    reserved.set(liveId, entry)
    check(total() <= capacity, `${total()} MB reserved of ${capacity}`)
    const sessions = [...reserved.values()].filter(({ userId }) => userId === entry.userId).length
    check(sessions <= maxSessions, `user ${entry.userId} has ${sessions} open sessions of ${maxSessions}`)
  }

  const created = (liveId: number, commandId: string): void => {
    const command = commandId.split('/')[0] ?? commandId
    check(!lives.has(liveId), `session ${liveId} was created after its stream had begun`)
    check(reserved.has(liveId), `session ${liveId} was created without a reservation`)
    check(
      !liveOfCommand.has(command),
      `command ${command} created session ${liveOfCommand.get(command)} and session ${liveId}`,
    )
    liveOfCommand.set(command, liveId)
    lives.set(liveId, 'pending')
  }

  const moved = (liveId: number, term: number): void => {
    const before = reserved.get(liveId)
    check(before?.term === term - 1, `session ${liveId} was moved into term ${term} after term ${before?.term}`)
    if (before !== undefined) reserved.set(liveId, { ...before, term })
  }

  const released = (liveId: number): void => {
    check(reserved.has(liveId), `session ${liveId} was released twice`)
    check(lives.has(liveId), `session ${liveId} was released before it was fenced`)
    check(!isOpen(lives.get(liveId)), `session ${liveId} was released while it was open`)
    reserved.delete(liveId)
  }

  const observe = (stream: string, event: StoredEvent): void => {
    const { id, type } = event
    const data = dataOf(event)
    check(!eventIds.has(id), `event ${id} is in the log twice`)
    eventIds.add(id)
    const liveId = Number(data['liveId'])
    switch (type) {
      case 'Admitted':
        return admitted(liveId, { userId: Number(data['userId']), vram: Number(data['vram']), term: 1 })
      case 'Moved':
        return moved(liveId, Number(data['term']))
      case 'WorkerRestarted':
        for (const [id, entry] of reserved) reserved.set(id, { ...entry, term: entry.term + 1 })
        return
      case 'Released':
        return released(liveId)
      case 'LiveCreated':
        return created(liveId, String(data['commandId']))
      case 'LiveAborted':
        check(!lives.has(liveId), `session ${liveId} was fenced after its stream had begun`)
        lives.set(liveId, 'aborted')
        return
      case 'LiveStarted':
        check(lives.get(liveId) === 'pending', `session ${liveId} started twice`)
        lives.set(liveId, 'active')
        return
      case 'LiveFinished':
      case 'LiveFailed':
        check(isOpen(lives.get(liveId)), `session ${liveId} ended twice`)
        lives.set(liveId, 'ended')
        return
      case 'ListenerTokenClaimed':
        check(!ownerOfToken.has(stream), `${stream} was claimed twice`)
        ownerOfToken.set(stream, Number(data['userId']))
        return
      default:
    }
  }

  return {
    observe,
    violations: (): ReadonlyArray<string> => violations,
    reserved: (): ReadonlyArray<number> => [...reserved.keys()],
    open: (): ReadonlyArray<number> => [...lives].filter(([, status]) => isOpen(status)).map(([liveId]) => liveId),
    active: (): ReadonlyArray<number> =>
      [...lives].filter(([, status]) => status === 'active').map(([liveId]) => liveId),
    isOver: (liveId: number): boolean => lives.get(liveId) === 'ended',
    liveOf: (commandId: string): number | undefined => liveOfCommand.get(commandId),
  }
}
