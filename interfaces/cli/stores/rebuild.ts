import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { RebuildProgress, Rebuilt } from '../../../application/ports/projector.ts'
import { didYouMean } from '../../../domain/shared/nearest-name.ts'
import { createEnvironment } from '../../../infrastructure/node/environment.ts'
import { foldingCode } from '../../../infrastructure/files/folding-code.ts'
import { createLogger } from '../../../infrastructure/node/logger.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { systemTimers as timers } from '../../../infrastructure/node/system-timers.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { modelOf } from '../../../projections/projection.ts'
import type { Projection } from '../../../projections/projection.ts'
import { rebuildReadModel } from '../../../projections/rebuild/rebuild.ts'
import type { RebuildDeps } from '../../../projections/rebuild/rebuild.ts'
import { openStores } from '../../compose/stores.ts'
import { misused, quoted } from '../../command-error.ts'
import { rebuildByService } from '../control-client.ts'
import { createProgressBar } from '../progress-bar.ts'
import { dataFiles, isServiceRunning } from './tool-data.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { REBUILD } from '../commands/stores.ts'
import { toolSettings } from '../tool-settings.ts'

const NAMES = allProjections.map(({ name }) => name)

type Outcome = Either<string, Omit<Rebuilt, 'position'>>

type Rebuild = (projection: Projection, onProgress: (progress: RebuildProgress) => void) => Promise<Outcome>

/** With the data directory taken by this process. */
const ownRebuild = async (settings: Settings, use: (rebuild: Rebuild) => Promise<void>): Promise<void> => {
  const environment = createEnvironment()
  const { store, documents, members, stop: close } = await openStores(settings, { logger: createLogger('warn'), environment })
  void members.replaced.then((why) => {
    console.error(`error: ${why}`)
    process.exit(1)
  })
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
  if (isServiceRunning(settings.dataDir)) await all(({ name }, onProgress) => rebuildByService(settings.dataDir, name, onProgress))
  else await ownRebuild(settings, all)
  return code
}
