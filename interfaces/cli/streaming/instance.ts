import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { survivesHangUp } from '../../hang-up.ts'
import { startServiceProcess } from '../service-process.ts'

const USERNAME = 'demo'

/** A temporary service with a free port, a temporary data directory and one administrator. */
export interface ThrowAwayInstance {
  readonly url: string
  readonly username: string
  readonly password: string
  readonly dataDirectory: string
  /** Stops the service. Its data stay until `dispose`. */
  readonly stop: () => Promise<void>
  /** Stops the service and deletes its data. */
  readonly dispose: () => Promise<void>
}

/**
 * Starts a temporary service with additional `settings` (names with their prefix) and waits until it listens. Ctrl-C
 * disposes of the service and exits with 130; the other signals that end a process do so too.
 */
export const startThrowAwayInstance = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<ThrowAwayInstance> => {
  let cleanUp = async (): Promise<void> => undefined
  const end = (signal: NodeJS.Signals): void =>
    void cleanUp().finally(() => process.exit(128 + constants.signals[signal]))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  // A closed terminal sends this signal twice.
  if (!survivesHangUp) process.on('SIGHUP', end)
  // There is no `await` before the assignment of cleanUp, so a signal never leaves the directory behind.
  const dataDirectory = mkdtempSync(join(tmpdir(), 'stenolog-'))
  const password = randomBytes(18).toString('base64url')
  // The temporary service uses the models that are installed for the regular service.
  const usualModels = resolve(process.env['STENOLOG_DATA_DIR'] ?? 'data', 'models')
  const modelsDirectory = process.env['STENOLOG_MODELS_DIR'] ?? (existsSync(usualModels) ? usualModels : undefined)
  const starting = startServiceProcess({
    STENOLOG_HOST: '127.0.0.1',
    STENOLOG_PORT: '0',
    STENOLOG_DATA_DIR: dataDirectory,
    STENOLOG_ADMIN_USERNAME: USERNAME,
    STENOLOG_ADMIN_PASSWORD: password,
    STENOLOG_DRAIN_TIMEOUT: '0s',
    STENOLOG_LOG_LEVEL: 'warn',
    ...(modelsDirectory === undefined ? {} : { STENOLOG_MODELS_DIR: modelsDirectory }),
    ...settings,
  })
  const stop = async (): Promise<void> => {
    // A failed start leaves no service to stop.
    const service = await starting.catch(() => null)
    await service?.end('SIGTERM')
  }
  const dispose = async (): Promise<void> => {
    await stop()
    await rm(dataDirectory, { recursive: true, force: true })
  }
  cleanUp = dispose
  try {
    const { url } = await starting
    return { url, username: USERNAME, password, dataDirectory, stop, dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}
