/**
 * A double of MongoDB for the tests, and for nothing else: a process that speaks the server's wire protocol to the real
 * driver, for as much of it as the project uses. It enforces unique indexes, keeps its data in a file that survives a
 * kill -9, repeats the outcome of a retryable write, and refuses what it does not know as a server would; and, unless
 * it
 * is lenient, writes that do not ask for a majority and its journal. Its replica set has three members, each at ports
 * of
 * its own; what befalls them, and each client's lines to them, is the test's to tell (README.md).
 * Started with fork: arguments FILE, NAME OF THE REPLICA SET (empty: standalone), `lenient` or `strict`, PORTS of the
 * members (0: a free one); tells its ports, does what it is told, and ends with its parent. A frozen server is this
 * process after a SIGSTOP.
 */
import type { BSON } from 'mongodb'
import { createDoors } from './doors.ts'
import type { Connection } from './doors.ts'
import { failure, ServerError } from './errors.ts'
import { createFaults } from './faults.ts'
import type { Answered, Control, DoorControl, State, Told, WeakWrite } from './faults.ts'
import { greeting, isKnown, topologyVersionOf } from './greeting.ts'
import { createReplicaSet } from './replica-set.ts'
import { createServer } from './server.ts'
import { openStorage } from './storage.ts'
import { replyTo } from './wire.ts'
import type { Request } from './wire.ts'

/** Members of a replica set. */
const SIZE = 3

const [file = '', replicaSet = '', mode = 'strict', ...ports] = process.argv.slice(2)
const size = replicaSet === '' ? 1 : SIZE
const faults = createFaults()
const storage = openStorage(file)
const weakWrites = new Map<string, WeakWrite>()
/** Commands that wait for all faults to be over. */
let held: ReadonlyArray<() => void> = []
/** Answers that wait for a majority, and at which member. */
let waiting: ReadonlyArray<{ readonly member: number; readonly settle: (isRolledBack: boolean) => void }> = []
/** Greetings that wait for something new. */
let curious: ReadonlyArray<() => void> = []

/** Calls back after this time, or earlier when the result is called, but once; 0: never by itself. */
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
  note: (write) => void weakWrites.set(JSON.stringify(write), write),
})
const set = createReplicaSet({
  storage, size, file: `${file}.set`,
  settle: (member, isRolledBack) => {
    for (const one of waiting) if (one.member === member) one.settle(isRolledBack)
  },
  changed: () => {
    for (const look of curious) look()
  },
})

const refuse = (connection: Connection, request: Request, error: ServerError): void => {
  const topologyVersion = topologyVersionOf(set.seat(connection.member))
  respond(connection, request, failure(error, { command: request.command, topologyVersion }))
}

/** Answers at once, or when what the client knows is not so any more; then, where it takes many, each time. */
const greet = (connection: Connection, request: Request): void => {
  const { member, hosts, socket } = connection
  const options = () => ({ replicaSet: replicaSet === '' ? null : replicaSet, hosts, member, seat: set.seat(member) })
  const { topologyVersion, maxAwaitTimeMS } = request.command
  const waits = topologyVersion !== undefined && maxAwaitTimeMS !== undefined
  const tell = (): void => {
    if (socket.destroyed) return
    const hasMore = waits && request.takesMany
    socket.write(replyTo(request, greeting(options()), hasMore))
    if (hasMore) wait()
  }
  const wait = (): void => {
    const settle = once<null>(Number(maxAwaitTimeMS), null, () => {
      curious = curious.filter((one) => one !== look)
      tell()
    })
    const look = (): void => settle(null)
    curious = [...curious, look]
  }
  if (waits && isKnown(set.seat(member), topologyVersion as BSON.Document)) wait()
  else tell()
}

/** As a server without faults. */
const serve = (connection: Connection, request: Request): void => {
  const { member } = connection
  const { document, awaitsMajorityMs } = answer(request.command, set.seat(member))
  if (awaitsMajorityMs === null) {
    respond(connection, request, document)
    return
  }
  const settle = once<boolean | null>(awaitsMajorityMs, null, (isRolledBack) => {
    waiting = waiting.filter((one) => one !== here)
    const done = isRolledBack === null ? { ...document, writeConcernError: LATE_MAJORITY } : document
    if (isRolledBack === true) refuse(connection, request, INTERRUPTED)
    else respond(connection, request, done)
  })
  const here = { member, settle }
  waiting = [...waiting, here]
}

const serveOrGreet = (connection: Connection, request: Request): void => {
  const [name = ''] = Object.keys(request.command)
  if (['hello', 'ismaster', 'isMaster'].includes(name)) greet(connection, request)
  else serve(connection, request)
}

/** Begins the command when all faults are over; one that takes longer than it may is refused, as a server does. */
const hold = (connection: Connection, request: Request): void => {
  const settle = once<boolean>(Number(request.command['maxTimeMS'] ?? 0), true, (isLate) => {
    held = held.filter((one) => one !== release)
    if (isLate) refuse(connection, request, EXPIRED)
    else serveOrGreet(connection, request)
  })
  const release = (): void => settle(false)
  held = [...held, release]
}

const take = (connection: Connection, request: Request): void => {
  const { socket, member } = connection
  const [name = ''] = Object.keys(request.command)
  const done = (): BSON.Document => answer(request.command, set.seat(member)).document
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
      done()
      return void socket.destroy()
    case 'not-primary':
      return refuse(connection, request, new ServerError(10107, 'NotWritablePrimary', 'not primary'))
    case 'empty':
      done()
      return respond(connection, request, { ok: 1 })
    case 'garbled': {
      const reply = replyTo(request, done())
      // All of the document but its length: one that is none sends the driver round in circles (mongodb 7.9).
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

/** Does what it is told; answers the ports of the door that was asked for. */
const obey = async (control: Control): Promise<ReadonlyArray<number>> => {
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
process.on('message', ({ id, control }: Told) => {
  void obey(control).then((opened) => process.send?.({ id, state: state(), ports: opened } satisfies Answered))
})
process.once('disconnect', () => process.exit(0))
process.send?.({ ports: bound })
