import { chmod, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Projector } from '../../application/ports/projector.ts'
import { createHttpApp, type HttpAppOptions } from '../http/app.ts'
import { createHttpServer } from '../http/connections/server.ts'
import { NO_WAITING_LIMITS } from '../http/connections/waiting-connections.ts'

/** Longer socket paths are refused. Linux allows 108 bytes, and macOS 104. */
const MAX_PATH_BYTES = 100

/** Returns the path of the socket through which the command line talks to the service of a data directory. */
export const controlPath = (dataDir: string): string => join(dataDir, 'control.sock')

/** POST rebuilds a read model. The response is lines of JSON: `progress`, and at the end `done` or `failed`. */
export const rebuildPath = (projection: string): string => `/control/rebuild/${projection}`

interface ControlOptions extends Omit<HttpAppOptions, 'isControl'> {
  readonly projector: Pick<Projector, 'rebuild'>
}

const serveRebuild = async (
  { projector, logger }: ControlOptions, projection: string, response: ServerResponse,
): Promise<void> => {
  const writeLine = (line: object): void => void (response.writable && response.write(`${JSON.stringify(line)}\n`))
  // The rebuild continues when the client disconnects.
  response.on('error', () => response.destroy())
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  try {
    const outcome = await projector.rebuild(projection, (progress) => writeLine({ kind: 'progress', progress }))
    writeLine(E.isRight(outcome) ? { kind: 'done', result: outcome.right } : { kind: 'failed', reason: outcome.left })
  } catch (error) {
    logger.error({ err: error, projection }, 'unexpected error in a rebuild')
    writeLine({ kind: 'failed', reason: 'internal error; see the log of the service' })
  }
  response.end()
}

/**
 * Serves the administration routes and rebuilds on a socket in the data directory. Requests need no login, because the
 * permissions of the socket file protect it. This process must hold the data directory. Returns the function that
 * closes the socket. If the path is too long, it logs a warning and opens no socket.
 */
export const openControl = async (options: ControlOptions, dataDir: string): Promise<() => Promise<void>> => {
  const path = controlPath(dataDir)
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    options.logger.warn({ path }, 'socket path is too long: the command line cannot reach this service')
    return async () => undefined
  }
  // Removes the socket of a killed process. No other process can use it, because this one holds the directory.
  await rm(path, { force: true })
  const handle = createHttpApp({ ...options, isControl: true }).callback()
  const rebuilds = new Set<ServerResponse>()
  const server = createHttpServer((request, response) => {
    const [, projection] = /^\/control\/rebuild\/([^/]+)$/.exec(request.url ?? '') ?? []
    if (request.method !== 'POST' || projection === undefined) return void handle(request, response)
    rebuilds.add(response)
    response.once('close', () => rebuilds.delete(response))
    return void serveRebuild(options, projection, response)
  }, { logger: options.logger, trustedProxies: [], waiting: NO_WAITING_LIMITS })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  server.on('error', (error) => options.logger.error({ err: error }, 'connection not accepted'))
  await chmod(path, 0o600)
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    // A rebuild stops with the service and continues after the next start, so `close` does not wait for it.
    for (const response of rebuilds) response.destroy()
    await closed
  }
}
