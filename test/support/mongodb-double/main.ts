/**
 * A double of MongoDB for the tests, and for nothing else: a process that speaks the server's wire protocol to the real
 * driver, for as much of it as the project uses. It enforces unique indexes, keeps its data in a file that survives a
 * kill -9, repeats the outcome of a retryable write, and refuses what it does not know as a server would; and, unless it
 * is lenient, writes that do not ask for a majority and its journal. Its replica set has a primary and a secondary, which
 * can be cut off from each other: reads then see what their concern and preference let them see, and what only the
 * primary has can be rolled back. It has no access control, no TLS, no transactions and no elections.
 * Started with fork: arguments FILE, NAME OF THE REPLICA SET (empty: standalone), `lenient` or `strict`, PORTS (0: a free
 * one; the secondary's is the second); tells its ports, takes faults, and ends with its parent. A frozen server is this
 * process after a SIGSTOP.
 */
import { once as listening } from 'node:events'
import { createServer as createListener } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { BSON } from 'mongodb'
import { failure, ServerError } from './errors.ts'
import { createFaults } from './faults.ts'
import type { Control, Fault, State } from './faults.ts'
import { createServer } from './server.ts'
import type { Server } from './server.ts'
import { openStorage } from './storage.ts'
import { createReader, replyTo } from './wire.ts'
import type { Request } from './wire.ts'

const [file = '', replicaSet = '', mode = 'strict', ...ports] = process.argv.slice(2)
const faults = createFaults()
const storage = openStorage(file)
let answer: Server = () => {
  throw new Error('nobody can be connected yet')
}
let connections = 0
/** Commands that wait for all faults to be over. */
let held: ReadonlyArray<() => void> = []
/** Answers that wait for a majority. */
let waiting: ReadonlyArray<(isRolledBack: boolean) => void> = []

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

const respond = (socket: Socket, request: Request, document: BSON.Document): void => {
  if (request.wantsReply && !socket.destroyed) socket.write(replyTo(request, document))
}

const EXPIRED = new ServerError(50, 'MaxTimeMSExpired', 'operation exceeded time limit')
const LATE_MAJORITY = {
  code: 64, codeName: 'WriteConcernTimeout', errmsg: 'waiting for replication timed out', errInfo: { wtimeout: true },
}
const INTERRUPTED = new ServerError(11602, 'InterruptedDueToReplStateChange', 'operation was interrupted')

/** As a server without faults. */
const serve = (socket: Socket, request: Request): void => {
  const { document, awaitsMajorityMs } = answer(request.command)
  if (awaitsMajorityMs === null) {
    respond(socket, request, document)
    return
  }
  const settle = once<boolean | null>(awaitsMajorityMs, null, (isRolledBack) => {
    waiting = waiting.filter((one) => one !== settle)
    const done = isRolledBack === null ? { ...document, writeConcernError: LATE_MAJORITY } : document
    respond(socket, request, isRolledBack === true ? failure(INTERRUPTED) : done)
  })
  waiting = [...waiting, settle]
}

/** Begins the command when all faults are over; one that takes longer than it may is refused, as a server does. */
const hold = (socket: Socket, request: Request): void => {
  const settle = once<boolean>(Number(request.command['maxTimeMS'] ?? 0), true, (isLate) => {
    held = held.filter((one) => one !== release)
    if (isLate) respond(socket, request, failure(EXPIRED))
    else serve(socket, request)
  })
  const release = (): void => settle(false)
  held = [...held, release]
}

const serveWithFaults = (socket: Socket, request: Request): void => {
  const [name = ''] = Object.keys(request.command)
  const effect = faults.next(name)
  switch (effect) {
    case undefined:
      return serve(socket, request)
    case 'hang':
      return undefined
    case 'hold':
      return hold(socket, request)
    case 'drop-before':
      return void socket.destroy()
    case 'drop-after':
      answer(request.command)
      return void socket.destroy()
    case 'not-primary':
      return respond(socket, request, failure(new ServerError(10107, 'NotWritablePrimary', 'not primary')))
    case 'empty':
      answer(request.command)
      return respond(socket, request, { ok: 1 })
    case 'garbled': {
      const reply = replyTo(request, answer(request.command).document)
      // All of the document but its length: one that is none sends the driver round in circles (mongodb 7.9).
      reply.fill(0xff, request.isQuery ? 40 : 25)
      return void socket.write(reply)
    }
  }
}

const listen = async (port: string, take: (socket: Socket, request: Request) => void): Promise<number> => {
  const listener = createListener((socket) => {
    const read = createReader()
    connections += 1
    socket.setNoDelay(true)
    socket.on('data', (chunk) => {
      for (const request of read(chunk)) if (!socket.destroyed) take(socket, request)
    })
    socket.on('error', () => socket.destroy())
  })
  listener.listen(Number(port), '127.0.0.1')
  await listening(listener, 'listening')
  return (listener.address() as AddressInfo).port
}

const settleWaiting = (isRolledBack: boolean): void => {
  for (const settle of waiting) settle(isRolledBack)
}

const CONTROLS: Readonly<Record<Exclude<Control, Fault>, () => void>> = {
  heal: () => {
    faults.clear()
    for (const release of held) release()
  },
  'cut-off': storage.cutOff,
  lag: storage.lag,
  'catch-up': () => {
    storage.catchUp()
    settleWaiting(false)
  },
  'roll-back': () => {
    storage.rollBack()
    settleWaiting(true)
  },
  count: () => undefined,
}

const bound = [await listen(ports[0] ?? '0', serveWithFaults)]
if (replicaSet !== '')
  bound.push(await listen(ports[1] ?? '0', (socket, request) => {
    respond(socket, request, answer(request.command, 'secondary').document)
  }))
const hosts = bound.map((port) => `127.0.0.1:${port}`)
answer = createServer({ storage, hosts, replicaSet: replicaSet === '' ? null : replicaSet, isLenient: mode === 'lenient' })
process.on('message', (message: Control) => {
  if (typeof message === 'string') CONTROLS[message]()
  else faults.add(message)
  process.send?.({ held: held.length, waiting: waiting.length, connections } satisfies State)
})
process.once('disconnect', () => process.exit(0))
process.send?.({ ports: bound })
