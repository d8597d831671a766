import { chmod, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createHttpApp, SERVER_LIMITS } from '../http/app.ts'
import type { HttpAppOptions } from '../http/app.ts'

/** What the operating system takes as the path of a socket, in bytes. */
const MAX_PATH = 100

/** Where the command line finds the service that holds a data directory. */
export const controlPath = (dataDir: string): string => join(dataDir, 'control.sock')

/**
 * The administrators' routes for whoever may use the data directory, which this process must hold. Answers how to close
 * it; a path that is too long is logged, and the service goes without.
 */
export const openControl = async (options: Omit<HttpAppOptions, 'isControl'>, dataDir: string): Promise<() => Promise<void>> => {
  const path = controlPath(dataDir)
  if (Buffer.byteLength(path) > MAX_PATH) {
    options.logger.warn({ path }, 'the path is too long for a socket: the command line cannot talk to this service')
    return async () => undefined
  }
  // Left by a process that was killed: nobody else holds the directory.
  await rm(path, { force: true })
  const handle = createHttpApp({ ...options, isControl: true }).callback()
  const server = createServer(SERVER_LIMITS, (request, response) => void handle(request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  await chmod(path, 0o600)
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    await closed
  }
}
