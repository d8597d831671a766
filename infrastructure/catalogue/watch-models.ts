import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import { messageOf } from '../../domain/shared/message-of.ts'

const INTERVAL_MS = 5000

/** Path, size and time of every file as one text. It differs between scans while somebody copies files. */
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
    // A missing folder, or a file, contains no paths.
    return []
  }
}

const isHidden = (path: string): boolean => /[/\\]\.[^/\\]*$/.test(path)

/** Scans the models directory, without entries that begin with a dot. */
export const lookAtModels = async (modelsDir: string): Promise<SeenModels> => {
  const folders = (await pathsIn(modelsDir, false)).filter((path) => !isHidden(path))
  const files = await Promise.all(folders.map(async (folder) => [folder, ...(await pathsIn(folder, true))]))
  return (await Promise.all(files.flat().toSorted().map(fileFacts))).join('\n')
}

interface WatchModelsOptions {
  readonly modelsDir: string
  /** The scan at the time of the last rescan. */
  readonly seen: SeenModels
  readonly rescan: () => Promise<void>
  readonly timers: Timers
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

/**
 * Scans the models directory every few seconds, because a network directory sends no notifications. After a change it
 * waits until two scans in a row are equal, so an unfinished copy does not count. Then it rescans the installed models.
 */
export const watchModels = ({
  modelsDir,
  seen,
  rescan,
  timers,
  logger,
}: WatchModelsOptions): { readonly stop: () => Promise<void> } => {
  const stopping = new AbortController()
  /** The scan at the time of the last rescan. */
  let known = seen
  let last = seen

  const look = async (): Promise<void> => {
    const now = await lookAtModels(modelsDir)
    const isSettled = now === last
    last = now
    if (now === known || !isSettled) return
    await rescan()
    known = now
    logger.info({ modelsDir }, 'models directory changed, installed models scanned')
  }
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await pause(timers, INTERVAL_MS, stopping.signal)
      // The next scan tries again.
      await look().catch((error: unknown) =>
        logger.warn({ modelsDir, reason: messageOf(error) }, 'installed models could not be scanned'),
      )
    }
  })()
  return {
    stop: async () => {
      stopping.abort()
      await watching
    },
  }
}
