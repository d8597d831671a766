import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startServiceProcess } from '../service-process.ts'

const USERNAME = 'demo'

/** A service of its own: free port, temporary data directory, one admin. */
export interface ThrowAwayInstance {
  readonly url: string
  readonly username: string
  readonly password: string
  readonly dataDirectory: string
  /** Ends the service; its data stay until `dispose`. */
  readonly stop: () => Promise<void>
  /** Ends the service if need be and removes its data. */
  readonly dispose: () => Promise<void>
}

/** Starts one, with further `settings` (names with their prefix), and waits until it listens. Ctrl-C disposes of it and exits with 130. */
export const startThrowAwayInstance = async (settings: Readonly<Record<string, string>> = {}): Promise<ThrowAwayInstance> => {
  let cleanUp = async (): Promise<void> => undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void cleanUp().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143)))
  // From here to the assignment of cleanUp nothing waits: a signal finds no directory, or the way to remove it.
  const dataDirectory = mkdtempSync(join(tmpdir(), 'stenolog-'))
  const password = randomBytes(18).toString('base64url')
  // The models of the service that is started here, where it has any of its own.
  const usual = resolve(process.env['STENOLOG_DATA_DIR'] ?? 'data', 'models')
  const modelsDirectory = process.env['STENOLOG_MODELS_DIR'] ?? (existsSync(usual) ? usual : undefined)
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
    // One that did not start has nothing to end.
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
