/**
 * A double of MongoDB for the tests, and for nothing else: a process that speaks the server's wire protocol to the real
 * driver, for as much of it as the project uses. It enforces unique indexes, keeps its data in a file that survives a
 * kill -9, repeats the outcome of a retryable write, and refuses what it does not know as a server would. It has no
 * access control, no TLS, no transactions, and one member in its replica set.
 * Started with fork: arguments FILE, PORT (0: a free one), NAME OF THE REPLICA SET (empty: standalone); tells its port,
 * takes faults, and ends with its parent. A frozen server is this process after a SIGSTOP.
 */
import { createServer as createListener } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { failure, ServerError } from './errors.ts'
import { createFaults } from './faults.ts'
import type { Fault } from './faults.ts'
import { createServer } from './server.ts'
import { openStorage } from './storage.ts'
import { createReader, replyTo } from './wire.ts'
import type { Request } from './wire.ts'

const [file = '', port = '0', replicaSet = ''] = process.argv.slice(2)
const faults = createFaults()
const storage = openStorage(file)
let answer: ReturnType<typeof createServer> = () => {
  throw new Error('nobody can be connected yet')
}

const serve = (socket: Socket, request: Request): void => {
  const [name = ''] = Object.keys(request.command)
  const effect = faults.next(name)
  if (effect === 'hang') return
  if (effect === 'drop-before') {
    socket.destroy()
    return
  }
  if (effect === 'not-primary') {
    socket.write(replyTo(request, failure(new ServerError(10107, 'NotWritablePrimary', 'not primary'))))
    return
  }
  const document = answer(request.command)
  if (effect === 'drop-after') {
    socket.destroy()
    return
  }
  if (!request.wantsReply) return
  const reply = replyTo(request, effect === 'empty' ? { ok: 1 } : document)
  // All of the document but its length: one that is none sends the driver round in circles (mongodb 7.9).
  if (effect === 'garbled') reply.fill(0xff, request.isQuery ? 40 : 25)
  socket.write(reply)
}

const listener = createListener((socket) => {
  const read = createReader()
  socket.setNoDelay(true)
  socket.on('data', (chunk) => {
    for (const request of read(chunk)) if (!socket.destroyed) serve(socket, request)
  })
  socket.on('error', () => socket.destroy())
})
listener.listen(Number(port), '127.0.0.1', () => {
  const bound = (listener.address() as AddressInfo).port
  answer = createServer({ storage, address: `127.0.0.1:${bound}`, replicaSet: replicaSet === '' ? null : replicaSet })
  process.send?.({ port: bound })
})
process.on('message', (message: Fault | 'heal') => {
  if (message === 'heal') faults.clear()
  else faults.add(message)
  process.send?.('done')
})
process.once('disconnect', () => process.exit(0))
