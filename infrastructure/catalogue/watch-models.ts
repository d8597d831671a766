import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import { messageOf } from '../../domain/shared/message-of.ts'

/** Between two looks. */
const EVERY_MS = 5000

/** Where every file is, how large and how old: a copy that is under way changes it from look to look. */
export type SeenModels = string

const fileFacts = async (path: string): Promise<string> => {
  try {
    const { size, mtimeMs, ino } = await stat(path)
    return `${path} ${size} ${mtimeMs} ${ino}`
  } catch (error) {
    return `${path} ${messageOf(error)}`
  }
}

const pathsIn = async (folder: string, recursive: boolean): Promise<ReadonlyArray<string>> => {
  try {
    return (await readdir(folder, { recursive })).map((name) => join(folder, name))
  } catch {
    // Not made yet, or a file: there is nothing in it.
    return []
  }
}

const isHidden = (path: string): boolean => /[/\\]\.[^/\\]*$/.test(path)

/** As the models directory is at this moment, but for what begins with a dot. */
export const lookAtModels = async (modelsDir: string): Promise<SeenModels> => {
  const folders = (await pathsIn(modelsDir, false)).filter((path) => !isHidden(path))
  const files = await Promise.all(folders.map(async (folder) => [folder, ...(await pathsIn(folder, true))]))
  return (await Promise.all(files.flat().toSorted().map(fileFacts))).join('\n')
}

interface WatchModelsOptions {
  readonly modelsDir: string
  /** When it was last found out what is installed. */
  readonly seen: SeenModels
  readonly rescan: () => Promise<void>
  readonly timers: Timers
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

/**
 * Looks again what is installed once the models directory has changed, and was the same in two looks since: a folder that
 * somebody is copying there is not met half-way. By looks, because of a directory that machines share nobody is notified.
 */
export const watchModels = ({ modelsDir, seen, rescan, timers, logger }: WatchModelsOptions): { readonly stop: () => Promise<void> } => {
  const stopping = new AbortController()
  let known = seen
  let last = seen

  const look = async (): Promise<void> => {
    const now = await lookAtModels(modelsDir)
    const isSettled = now === last
    last = now
    if (now === known || !isSettled) return
    await rescan()
    known = now
    logger.info({ modelsDir }, 'the models directory has changed: looked again what is installed')
  }
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await pause(timers, EVERY_MS, stopping.signal)
      // What is not looked up now is looked up the next time.
      await look().catch((error: unknown) => logger.warn({ modelsDir, reason: messageOf(error) }, 'what is installed could not be looked up'))
    }
  })()
  return {
    stop: async () => {
      stopping.abort()
      await watching
    },
  }
}
