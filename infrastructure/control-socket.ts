import { chmod, rm } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Interface } from 'node:readline'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'

/** A Unix socket's path takes no more bytes than this (108 with its end on Linux, 104 on macOS). */
const MAX_PATH_BYTES = 103

/** One request a connection, a line of JSON. */
const request = t.strict({ command: t.string, argument: t.string })

/** Lines of JSON; the last one is `done` or `failed`. */
const answer = t.union([
  t.strict({ kind: t.literal('progress'), progress: t.unknown }),
  t.strict({ kind: t.literal('done'), result: t.unknown }),
  t.strict({ kind: t.literal('failed'), reason: t.string }),
])
type Answer = t.TypeOf<typeof answer>

/** What the service does on request of its own command line; left: why it did not. */
export type ControlCommand = (argument: string, onProgress: (progress: unknown) => void) => Promise<Either<string, unknown>>

const parsed = <A>(codec: t.Decoder<unknown, A>, line: string): A | null => {
  try {
    const decoded = codec.decode(JSON.parse(line))
    return E.isRight(decoded) ? decoded.right : null
  } catch {
    return null
  }
}

/** Its own 'error' is the socket's once more: whoever has the socket deals with that. */
const linesOf = (socket: Socket): Interface => createInterface({ input: socket }).on('error', () => undefined)

const serve = async (socket: Socket, line: string, commands: Readonly<Record<string, ControlCommand>>): Promise<void> => {
  const send = (message: Answer): void => void (socket.writable && socket.write(`${JSON.stringify(message)}\n`))
  const asked = parsed(request, line)
  const run = asked !== null && Object.hasOwn(commands, asked.command) ? commands[asked.command] : undefined
  if (asked === null || run === undefined) send({ kind: 'failed', reason: 'this service does not know that command' })
  else {
    const outcome = await run(asked.argument, (progress) => send({ kind: 'progress', progress }))
    send(E.isRight(outcome) ? { kind: 'done', result: outcome.right } : { kind: 'failed', reason: outcome.left })
  }
  socket.end()
}

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })

/**
 * Where the command line of this machine's user reaches the running service: a Unix socket in the data directory, open
 * to its owner alone. Only the process that holds the directory's lock may call this. Rejects where no socket can be made.
 */
export const openControlSocket = async (
  path: string,
  commands: Readonly<Record<string, ControlCommand>>,
): Promise<{ readonly close: () => Promise<void> }> => {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw new Error(`the path ${path} is too long for a socket`)
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => open.delete(socket))
    linesOf(socket).once('line', (line) => void serve(socket, line, commands))
  })
  // One that a killed process left behind.
  await rm(path, { force: true })
  await listen(server, path)
  await chmod(path, 0o600)
  return {
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

/** Asks the service that listens there. `unreachable`: nobody does. */
export const askService = (
  path: string,
  asked: t.TypeOf<typeof request>,
  onProgress: (progress: unknown) => void,
): Promise<Either<{ readonly unreachable: boolean; readonly reason: string }, unknown>> =>
  new Promise((resolve) => {
    const socket = createConnection(path)
    let isConnected = false
    socket.once('connect', () => {
      isConnected = true
      socket.write(`${JSON.stringify(asked)}\n`)
    })
    socket.once('error', (error) => resolve(E.left({ unreachable: !isConnected, reason: error.message })))
    socket.once('close', () => resolve(E.left({ unreachable: !isConnected, reason: 'the service went away' })))
    linesOf(socket).on('line', (line) => {
      const message = parsed(answer, line)
      if (message === null) resolve(E.left({ unreachable: false, reason: 'the service gave an answer that is none' }))
      else if (message.kind === 'progress') onProgress(message.progress)
      else resolve(message.kind === 'done' ? E.right(message.result) : E.left({ unreachable: false, reason: message.reason }))
    })
  })
