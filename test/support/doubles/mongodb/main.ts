/**
 * The double as a process. It speaks the parts of MongoDB's wire protocol that the project uses. It enforces unique
 * indexes, stores its data in a file that survives SIGKILL, repeats the answers to retryable writes, and refuses
 * unknown commands with the codes of a real server. Unless it is lenient, it refuses writes without majority and
 * journal.
 *
 * `process.ts` forks it: FILE, NAME OF THE REPLICA SET (empty: standalone), `lenient` or `strict`, `split` or `whole`
 * (updates), PORTS of the members (0: a free port). It reports its ports, performs controls (faults.ts), and ends with
 * its parent process.
 */
import type { BSON } from 'mongodb'
import { createDoors, type Connection } from './doors.ts'
import { failure, ServerError } from './errors.ts'
import {
  createFaults, type Control, type ControlAnswer, type ControlRequest, type DoorControl, type State, type WeakWrite,
} from './faults.ts'
import { greeting, isKnown, topologyVersionOf } from './greeting.ts'
import { createReplicaSet } from './replica-set.ts'
import { createServer } from './server.ts'
import { readNow, splitUpdates } from './split-updates.ts'
import { openStorage } from './storage.ts'
import { replyTo, type Request } from './wire.ts'

/** The number of members of a replica set. */
const SIZE = 3

const [file = '', replicaSet = '', mode = 'strict', updates = 'whole', ...ports] = process.argv.slice(2)
const size = replicaSet === '' ? 1 : SIZE
const faults = createFaults()
const storage = openStorage(file)
const weakWrites = new Map<string, WeakWrite>()
/** Commands that wait for the end of all faults. */
let held: ReadonlyArray<() => void> = []
/** Answers of a member that wait for a majority. */
let waiting: ReadonlyArray<{ readonly member: number; readonly settle: (isRolledBack: boolean) => void }> = []
/** Answers to `hello` that wait for a new state. */
let awaitingChange: ReadonlyArray<() => void> = []

/** Calls `then` once: when the returned function is called, or with `late` after `ms` (0: no time limit). */
const once = <A>(ms: number, late: A, then: (outcome: A) => void): ((outcome: A) => void) => {
  let isDone = false
  const settle = (outcome: A): void => {
    if (isDone) return
    isDone = true
    clearTimeout(timer)
    then(outcome)
  }
  const timer = ms > 0 ? setTimeout(() => settle(late), ms) : undefined
  return settle
}

const respond = ({ socket }: Connection, request: Request, document: BSON.Document): void => {
  if (request.wantsReply && !socket.destroyed) socket.write(replyTo(request, document))
}

const EXPIRED = new ServerError(50, 'MaxTimeMSExpired', 'operation exceeded time limit')
const LATE_MAJORITY = {
  code: 64, codeName: 'WriteConcernTimeout', errmsg: 'waiting for replication timed out', errInfo: { wtimeout: true },
}
const INTERRUPTED = new ServerError(11602, 'InterruptedDueToReplStateChange', 'operation was interrupted')

const answer = createServer({
  isReplicaSet: replicaSet !== '',
  isLenient: mode === 'lenient',
  readForUpdate: updates === 'split' ? splitUpdates() : readNow,
  note: (write) => void weakWrites.set(JSON.stringify(write), write),
})
const set = createReplicaSet({
  storage, size, file: `${file}.set`,
  settle: (member, isRolledBack) => {
    for (const answerOfMember of waiting) if (answerOfMember.member === member) answerOfMember.settle(isRolledBack)
  },
  changed: () => {
    for (const notify of awaitingChange) notify()
  },
})

const refuse = (connection: Connection, request: Request, error: ServerError): void => {
  const topologyVersion = topologyVersionOf(set.seat(connection.member))
  respond(connection, request, failure(error, { command: request.command, topologyVersion }))
}

/**
 * Answers `hello` at once, or when the state differs from the state that the client knows. A client that allows several
 * answers gets a further answer at each change.
 */
const greet = (connection: Connection, request: Request): void => {
  const { member, hosts, socket } = connection
  const options = () => ({ replicaSet: replicaSet === '' ? null : replicaSet, hosts, member, seat: set.seat(member) })
  const { topologyVersion, maxAwaitTimeMS } = request.command
  const waits = topologyVersion !== undefined && maxAwaitTimeMS !== undefined
  const send = (): void => {
    if (socket.destroyed) return
    const hasMore = waits && request.takesMany
    socket.write(replyTo(request, greeting(options()), hasMore))
    if (hasMore) wait()
  }
  const wait = (): void => {
    const settle = once<null>(Number(maxAwaitTimeMS), null, () => {
      awaitingChange = awaitingChange.filter((other) => other !== notify)
      send()
    })
    const notify = (): void => settle(null)
    awaitingChange = [...awaitingChange, notify]
  }
  if (waits && isKnown(set.seat(member), topologyVersion as BSON.Document)) wait()
  else send()
}

/** Performs a command without faults. */
const serve = (connection: Connection, request: Request): void => {
  const { member } = connection
  const { document, awaitsMajorityMs } = answer(request.command, set.seat(member))
  if (awaitsMajorityMs === null) {
    respond(connection, request, document)
    return
  }
  const settle = once<boolean | null>(awaitsMajorityMs, null, (isRolledBack) => {
    waiting = waiting.filter((other) => other !== pending)
    const reply = isRolledBack === null ? { ...document, writeConcernError: LATE_MAJORITY } : document
    if (isRolledBack === true) refuse(connection, request, INTERRUPTED)
    else respond(connection, request, reply)
  })
  const pending = { member, settle }
  waiting = [...waiting, pending]
}

const serveOrGreet = (connection: Connection, request: Request): void => {
  const [name = ''] = Object.keys(request.command)
  if (['hello', 'ismaster', 'isMaster'].includes(name)) greet(connection, request)
  else serve(connection, request)
}

/** Begins the command when all faults have ended. Refuses it when its `maxTimeMS` ends first, as a real server does. */
const hold = (connection: Connection, request: Request): void => {
  const settle = once<boolean>(Number(request.command['maxTimeMS'] ?? 0), true, (isLate) => {
    held = held.filter((other) => other !== release)
    if (isLate) refuse(connection, request, EXPIRED)
    else serveOrGreet(connection, request)
  })
  const release = (): void => settle(false)
  held = [...held, release]
}

const take = (connection: Connection, request: Request): void => {
  const { socket, member } = connection
  const [name = ''] = Object.keys(request.command)
  const execute = (): BSON.Document => answer(request.command, set.seat(member)).document
  switch (set.state().primary === member ? faults.next(name) : undefined) {
    case undefined:
      return serveOrGreet(connection, request)
    case 'hang':
      return undefined
    case 'hold':
      return hold(connection, request)
    case 'drop-before':
      return void socket.destroy()
    case 'drop-after':
      execute()
      return void socket.destroy()
    case 'not-primary':
      return refuse(connection, request, new ServerError(10107, 'NotWritablePrimary', 'not primary'))
    case 'empty':
      execute()
      return respond(connection, request, { ok: 1 })
    case 'garbled': {
      const reply = replyTo(request, execute())
      // The length stays valid, because a wrong length makes the driver loop forever (mongodb 7.9).
      reply.fill(0xff, request.isQuery ? 40 : 25)
      return void socket.write(reply)
    }
  }
}

const doors = createDoors({ size, lineOf: set.line, take })

const CONTROLS: Readonly<Record<Extract<Control, string>, () => void>> = {
  heal: () => {
    faults.clear()
    for (const release of held) release()
  },
  'cut-off': set.cutOff,
  lag: storage.lag,
  'catch-up': () => {
    storage.endLag()
    set.catchUp()
  },
  'roll-back': set.rollBack,
  count: () => undefined,
}

const throughDoor = async (control: DoorControl): Promise<ReadonlyArray<number>> => {
  if ('line' in control) await doors.cut(control.door, control.line, control.members)
  return doors.ports(control.door)
}

/** Performs a control. Returns the ports of the requested door. */
const perform = async (control: Control): Promise<ReadonlyArray<number>> => {
  if (typeof control === 'string') CONTROLS[control]()
  else if ('effect' in control) faults.add(control)
  else if ('door' in control) return throughDoor(control)
  else {
    set.turn(control)
    await doors.refresh()
  }
  return []
}

const state = (): State => ({
  held: held.length,
  waiting: waiting.length,
  connections: doors.connections(),
  ...set.state(),
  weakWrites: [...weakWrites.values()],
})

const bound = await doors.ports('', ports.map(Number))
process.on('message', ({ id, control }: ControlRequest) => {
  void perform(control).then((opened) => process.send?.({ id, state: state(), ports: opened } satisfies ControlAnswer))
})
process.once('disconnect', () => process.exit(0))
process.send?.({ ports: bound })
