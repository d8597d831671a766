import { chmod, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Projector } from '../../application/ports/projector.ts'
import { createHttpApp } from '../http/app.ts'
import type { HttpAppOptions } from '../http/app.ts'
import { SERVER_LIMITS } from '../http/connections/server.ts'

/** What the operating system takes as the path of a socket, in bytes. */
const MAX_PATH = 100

/** Where the command line finds the service that holds a data directory. */
export const controlPath = (dataDir: string): string => join(dataDir, 'control.sock')

/** Only here: POST makes a read model anew and answers lines of JSON, `{kind: 'progress'}` and at last `done` or `failed`. */
export const rebuildPath = (projection: string): string => `/control/rebuild/${projection}`

interface ControlOptions extends Omit<HttpAppOptions, 'isControl'> {
  readonly projector: Pick<Projector, 'rebuild'>
}

const serveRebuild = async ({ projector, logger }: ControlOptions, projection: string, response: ServerResponse): Promise<void> => {
  const say = (line: object): void => void (response.writable && response.write(`${JSON.stringify(line)}\n`))
  // Whoever asked may go away: the rebuild goes on.
  response.on('error', () => response.destroy())
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  try {
    const outcome = await projector.rebuild(projection, (progress) => say({ kind: 'progress', progress }))
    say(E.isRight(outcome) ? { kind: 'done', result: outcome.right } : { kind: 'failed', reason: outcome.left })
  } catch (error) {
    logger.error({ err: error, projection }, 'unexpected error in a rebuild')
    say({ kind: 'failed', reason: 'internal error' })
  }
  response.end()
}

/**
 * The administrators' routes, and rebuilds, for whoever may use the data directory, which this process must hold. Answers
 * how to close it; a path that is too long is logged, and the service goes without.
 */
export const openControl = async (options: ControlOptions, dataDir: string): Promise<() => Promise<void>> => {
  const path = controlPath(dataDir)
  if (Buffer.byteLength(path) > MAX_PATH) {
    options.logger.warn({ path }, 'the path is too long for a socket: the command line cannot talk to this service')
    return async () => undefined
  }
  // Left by a process that was killed: nobody else holds the directory.
  await rm(path, { force: true })
  const handle = createHttpApp({ ...options, isControl: true }).callback()
  const rebuilds = new Set<ServerResponse>()
  const server = createServer(SERVER_LIMITS, (request, response) => {
    const [, projection] = /^\/control\/rebuild\/([^/]+)$/.exec(request.url ?? '') ?? []
    if (request.method !== 'POST' || projection === undefined) return void handle(request, response)
    rebuilds.add(response)
    response.once('close', () => rebuilds.delete(response))
    return void serveRebuild(options, projection, response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  await chmod(path, 0o600)
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    // A rebuild is broken off when the service stops, and goes on with the next start: nobody waits for it.
    for (const response of rebuilds) response.destroy()
    await closed
  }
}
