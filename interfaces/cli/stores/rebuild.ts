import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Members } from '../../../application/ports/members.ts'
import type { RebuildProgress, Rebuilt } from '../../../application/ports/projector.ts'
import { didYouMean } from '../../../domain/shared/nearest-name.ts'
import { createEnvironment } from '../../../infrastructure/process/clock-and-ids.ts'
import { foldingCode } from '../../../infrastructure/files/folding-code.ts'
import { createLogger } from '../../../infrastructure/observability/logger.ts'
import { hasServers, type Settings } from '../../../infrastructure/settings/settings.ts'
import { systemTimers as timers } from '../../../infrastructure/process/system-timers.ts'
import { isDataDirectoryInUse } from '../../../infrastructure/sqlite/data-directory.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { startProjector } from '../../../projections/projector.ts'
import { modelOf, type Projection } from '../../../projections/projection.ts'
import { type RebuildDeps, rebuildReadModel } from '../../../projections/rebuild/rebuild.ts'
import { controlPath } from '../../compose/control.ts'
import { openStores } from '../../compose/stores.ts'
import { usageError, quoted } from '../../command-error.ts'
import { isServiceListening, rebuildByService } from '../control-client.ts'
import { inTemporaryFolder } from '../process-for-command.ts'
import { createProgressBar } from '../progress-bar.ts'
import { dataFiles } from '../data-files.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { REBUILD } from '../commands/stores.ts'
import { toolSettings } from '../tool-settings.ts'

const NAMES = allProjections.map(({ name }) => name)

type Outcome = Either<string, Omit<Rebuilt, 'position'>>

type Rebuild = (projection: Projection, onProgress: (progress: RebuildProgress) => void) => Promise<Outcome>

const endWhenReplaced = ({ replaced }: Pick<Members, 'replaced'>): void =>
  void replaced.then((reason) => {
    console.error(`error: ${reason}`)
    process.exit(1)
  })

/** Rebuilds in this process, which locks the data directory. */
const rebuildHere = async (settings: Settings, use: (rebuild: Rebuild) => Promise<void>): Promise<void> => {
  const environment = createEnvironment()
  const logger = createLogger('warn')
  const { store, documents, members, stop: close } = await openStores(settings, { logger, environment })
  endWhenReplaced(members)
  const code = await foldingCode()
  const { signal } = new AbortController()
  try {
    await use(async (projection, onProgress) => {
      const positionInUse = async () => {
        const checkpoint = await documents.checkpoint(modelOf(projection))
        return E.isRight(checkpoint) && checkpoint.right.position !== '' ? checkpoint.right.position : null
      }
      const exclusively: RebuildDeps['exclusively'] = (run) => run()
      const stores = { store, documents, positionInUse, exclusively }
      return await rebuildReadModel({ ...stores, projection, code, environment, timers, signal, onProgress })
    })
  } finally {
    await close()
  }
}

/**
 * Rebuilds as a temporary member of the cluster. Another member that runs a projection rebuilds it. This process runs
 * and rebuilds the projections that have no other runner.
 */
const rebuildInCluster = (settings: Settings, use: (rebuild: Rebuild) => Promise<void>): Promise<void> =>
  inTemporaryFolder(async (dataDir) => {
    const [environment, logger] = [createEnvironment(), createLogger('warn')]
    const own: Settings = { ...settings, dataDir, nodeName: null, role: ['projector'] }
    const { store, documents, leases, members, stop: close } = await openStores(own, { logger, environment })
    endWhenReplaced(members)
    const stopping = new AbortController()
    const { signal } = stopping
    const code = await foldingCode()
    const running = { store, documents, environment, timers, logger, code, signal }
    const projector = startProjector({ ...running, projections: allProjections, leases })
    try {
      await use(({ name }, onProgress) => projector.rebuild(name, onProgress))
    } finally {
      stopping.abort()
      await projector.stopped
      await close()
    }
  })

/** Chooses the process that rebuilds: the running service, this process, or members of the cluster. */
const withRebuilder = async (settings: Settings, use: (rebuild: Rebuild) => Promise<void>): Promise<void> => {
  const { dataDir } = settings
  const byService: Rebuild = ({ name }, onProgress) => rebuildByService(dataDir, name, onProgress)
  // In a cluster the process with this data directory may have a role that serves no commands.
  if (hasServers(settings))
    return (await isServiceListening(controlPath(dataDir))) ? use(byService) : rebuildInCluster(settings, use)
  return isDataDirectoryInUse(dataDir) ? use(byService) : rebuildHere(settings, use)
}

const print = (projection: string, rebuilt: Omit<Rebuilt, 'position'>, json: boolean): void => {
  const { events, resumed, corrected, seconds } = rebuilt
  const source = `${resumed ? 'the last ' : ''}${events} events`
  const result = corrected === null ? 'there were no old documents to compare' : `${corrected} documents corrected`
  if (json) console.log(JSON.stringify({ projection, events, resumed, corrected, seconds }))
  else console.log(`${projection.padEnd(12)} rebuilt from ${source} in ${seconds.toFixed(1)} s, ${result}`)
}

/** Runs `stenolog rebuild`. Resolves to the exit code: 1 when a rebuild failed. */
export const rebuild = async (args: ReadonlyArray<string>): Promise<number> => {
  const { operands: [onlyName], options: values } = readArguments(REBUILD, args)
  const wanted = allProjections.filter(({ name }) => onlyName === undefined || name === onlyName)
  if (wanted.length === 0)
    throw usageError(
      `Unknown read model ${quoted(onlyName ?? '')}.${didYouMean(onlyName ?? '', NAMES)}`,
      `Read models: ${NAMES.join(', ')}`,
    )
  const settings = toolSettings()
  dataFiles(settings)
  let code = 0
  const rebuildWanted = async (rebuild: Rebuild): Promise<void> => {
    for (const projection of wanted) {
      const bar = createProgressBar(process.stderr, projection.name)
      let lastHeld: string | null = null
      const outcome = await rebuild(projection, ({ events, share, held }) => {
        if (held !== null && held !== lastHeld) console.error(`${projection.name}: waiting: ${held}`)
        lastHeld = held
        bar.show(share, `${events} events`)
      })
      bar.end()
      if (E.isLeft(outcome)) {
        code = 1
        console.error(`error: ${projection.name}: not rebuilt: ${outcome.left}`)
      } else print(projection.name, outcome.right, values.json)
    }
  }
  await withRebuilder(settings, rebuildWanted)
  return code
}
