import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Members } from '../../../application/ports/peers/members.ts'
import type { RebuildProgress, Rebuilt } from '../../../application/ports/projector.ts'
import { didYouMean } from '../../../domain/shared/nearest-name.ts'
import { createEnvironment } from '../../../infrastructure/node/environment.ts'
import { foldingCode } from '../../../infrastructure/files/folding-code.ts'
import { createLogger } from '../../../infrastructure/node/logger.ts'
import { hasServers } from '../../../infrastructure/settings.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { systemTimers as timers } from '../../../infrastructure/node/system-timers.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { startProjector } from '../../../projections/projector.ts'
import { modelOf } from '../../../projections/projection.ts'
import type { Projection } from '../../../projections/projection.ts'
import { rebuildReadModel } from '../../../projections/rebuild/rebuild.ts'
import type { RebuildDeps } from '../../../projections/rebuild/rebuild.ts'
import { controlPath } from '../../compose/control.ts'
import { openStores } from '../../compose/stores.ts'
import { misused, quoted } from '../../command-error.ts'
import { isServed, rebuildByService } from '../control-client.ts'
import { inTemporaryFolder } from '../process-for-command.ts'
import { createProgressBar } from '../progress-bar.ts'
import { dataFiles, isServiceRunning } from './tool-data.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { REBUILD } from '../commands/stores.ts'
import { toolSettings } from '../tool-settings.ts'

const NAMES = allProjections.map(({ name }) => name)

type Outcome = Either<string, Omit<Rebuilt, 'position'>>

type Rebuild = (projection: Projection, onProgress: (progress: RebuildProgress) => void) => Promise<Outcome>

const endWhenReplaced = ({ replaced }: Pick<Members, 'replaced'>): void =>
  void replaced.then((why) => {
    console.error(`error: ${why}`)
    process.exit(1)
  })

/** With the data directory taken by this process. */
const ownRebuild = async (settings: Settings, use: (rebuild: Rebuild) => Promise<void>): Promise<void> => {
  const environment = createEnvironment()
  const { store, documents, members, stop: close } = await openStores(settings, { logger: createLogger('warn'), environment })
  endWhenReplaced(members)
  const code = await foldingCode()
  const { signal } = new AbortController()
  try {
    await use(async (projection, onProgress) => {
      const standing = async () => {
        const checkpoint = await documents.checkpoint(modelOf(projection))()
        return E.isRight(checkpoint) && checkpoint.right.position !== '' ? checkpoint.right.position : null
      }
      const exclusively: RebuildDeps['exclusively'] = (run) => run()
      const stores = { store, documents, standing, exclusively }
      return await rebuildReadModel({ ...stores, projection, code, environment, timers, signal, onProgress })
    })
  } finally {
    await close()
  }
}

/**
 * Beside other processes, or without any: whoever runs a projection rebuilds it, and this process runs those that nobody
 * else does.
 */
const rebuildAmongOthers = (settings: Settings, use: (rebuild: Rebuild) => Promise<void>): Promise<void> =>
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

/** Who rebuilds where these settings lead. */
const rebuilderOf = async (settings: Settings, use: (rebuild: Rebuild) => Promise<void>): Promise<void> => {
  const { dataDir } = settings
  const byService: Rebuild = ({ name }, onProgress) => rebuildByService(dataDir, name, onProgress)
  // Where all data lie on servers who holds the directory need not serve commands.
  if (hasServers(settings)) return (await isServed(controlPath(dataDir))) ? use(byService) : rebuildAmongOthers(settings, use)
  return isServiceRunning(dataDir) ? use(byService) : ownRebuild(settings, use)
}

/** Rebuilds; resolves to the exit code: 1 when one was given up. */
export const rebuild = async (args: ReadonlyArray<string>): Promise<number> => {
  const { operands: [asked], options: values } = readArguments(REBUILD, args)
  const wanted = allProjections.filter(({ name }) => asked === undefined || name === asked)
  if (wanted.length === 0) throw misused(`Unknown read model ${quoted(asked ?? '')}.${didYouMean(asked ?? '', NAMES)}`, `Read models: ${NAMES.join(', ')}`)
  const settings = toolSettings()
  dataFiles(settings)
  let code = 0
  const all = async (rebuild: Rebuild): Promise<void> => {
    for (const projection of wanted) {
      const bar = createProgressBar(process.stderr, projection.name)
      let told: string | null = null
      const outcome = await rebuild(projection, ({ events, share, held }) => {
        if (held !== null && held !== told) console.error(`${projection.name}: waiting: ${held}`)
        told = held
        bar.show(share, `${events} events`)
      })
      bar.end()
      if (E.isLeft(outcome)) {
        code = 1
        console.error(`error: ${projection.name}: not rebuilt: ${outcome.left}`)
        continue
      }
      const { events, resumed, corrected, seconds } = outcome.right
      const found = corrected === null ? 'the old documents could not be compared' : `${corrected} documents corrected`
      if (values.json) console.log(JSON.stringify({ projection: projection.name, events, resumed, corrected, seconds }))
      else
        console.log(`${projection.name.padEnd(12)} rebuilt from ${resumed ? 'the last ' : ''}${events} events in ${seconds.toFixed(1)} s, ${found}`)
    }
  }
  await rebuilderOf(settings, all)
  return code
}
