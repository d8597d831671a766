import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import type { Measured } from '../../../infrastructure/onnx/model-files/manifest.ts'
import { modelNameOf, PULLED_BY_NAME } from '../../../infrastructure/catalogue/models.ts'
import { measuredBy, tryModel } from '../../../infrastructure/catalogue/trial.ts'
import { hubSource, type NamedSource } from '../../../infrastructure/model-hub/hub-source.ts'
import { pullModel } from '../../../infrastructure/model-hub/pull.ts'
import { isDataDirectoryInUse } from '../../../infrastructure/sqlite/data-directory.ts'
import { didYouMean } from '../../../domain/shared/nearest-name.ts'
import { CommandError, usageError, quoted } from '../../command-error.ts'
import type { Values } from '../commands/command.ts'
import type { MODELS } from '../commands/streaming.ts'
import { withRunningService } from '../control-client.ts'
import { requireValidName, listedModels, rescan, modelsDirectory } from './installed.ts'
import { createProgressBar } from '../progress-bar.ts'
import { toolSettings } from '../tool-settings.ts'

type PullOptions = Values<typeof MODELS>

const hubOf = (given: string | undefined): URL | null => {
  const url = given ?? toolSettings().hubUrl
  return url === null ? null : new URL(url)
}

const isFolderPath = (what: string): boolean => /^(?:\.{0,2}\/|\.{1,2}$)/.test(what)

/**
 * Returns the source of the model and its default name. Throws a CommandError for an unknown model or a missing
 * folder.
 */
const sourceOf = (what: string, options: PullOptions): NamedSource => {
  if (isFolderPath(what)) {
    if (statSync(what, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new CommandError(`There is no folder ${what}.`)
    return { source: { kind: 'directory', path: resolve(what) }, name: modelNameOf(basename(resolve(what))) }
  }
  const found = hubSource(what, hubOf(options.hub), { revision: options.revision })
  if (E.isRight(found)) return found.right
  const meant = didYouMean(what, PULLED_BY_NAME)
  throw usageError(
    `Unknown model ${quoted(what)}.${meant} Use a name (base), a repository (owner/name) or a folder (./path).`,
    `Names: ${PULLED_BY_NAME.join(', ')}`,
  )
}

const DOES_NOT_RUN =
  'the model does not run on this machine, so it was not installed (--no-load installs it without a trial run)'

const measure = async (folder: string): Promise<Measured> => measuredBy(orThrow(await tryModel(folder), DOES_NOT_RUN))

const inMb = (bytes: number): string => (bytes / 1e6).toFixed(1)

/** Lets the running service find the model. Resolves to the state of the model there; null when no service runs. */
const announce = (name: string): Promise<string | null> =>
  withRunningService(async (control) => {
    await rescan(control)
    const { models, pairs } = await listedModels(control)
    const row = models.find((model) => model.name === name) ?? pairs.find(({ model }) => model === name)
    if (row === undefined) return 'the running service does not list it, because its STENOLOG_MODELS_DIR is different'
    return row.active ? 'the running service lists it' : 'the running service lists it as inactive'
  })

/** Says when the model becomes available, if no service answers on the control socket. */
const availability = (): string =>
  isDataDirectoryInUse(toolSettings().dataDir)
    ? 'the running worker lists it within seconds'
    : 'the service lists it after its next start'

/** Runs `stenolog models pull`. Resolves to the exit code. */
export const pull = async (what: string, options: PullOptions): Promise<number> => {
  const { source, name: ownName } = sourceOf(what, options)
  const name = requireValidName(options.as ?? ownName)
  const modelsDir = modelsDirectory()
  const bar = createProgressBar(process.stderr, name)
  const { folder, manifest } = await pullModel({
    source,
    modelsDir,
    name,
    precision: options.precision ?? null,
    force: options.force,
    check: async (staged) => {
      bar.end()
      if (options['no-load']) return {}
      console.error(`${name.padEnd(12)} download complete; loading the model`)
      return measure(staged)
    },
    onProgress: (done, total, path) =>
      bar.show(total === 0 ? null : done / total, `${inMb(done)} of ${inMb(total)} MB  ${path}`),
    wait: (milliseconds) => setTimeout(milliseconds, undefined),
  }).finally(() => bar.end())
  const state = (await announce(modelNameOf(name))) ?? availability()
  const memory = manifest.vram === undefined ? 'memory not measured' : `${manifest.vram.megabytes} MB of memory`
  const result = { name: modelNameOf(name), folder, ...manifest }
  console.log(options.json ? JSON.stringify(result) : `${name} is installed in ${folder} (${memory}); ${state}`)
  return 0
}
