import { basename, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import type { Measured } from '../../../infrastructure/catalogue/manifest.ts'
import { modelNameOf, PULLED_BY_NAME } from '../../../infrastructure/catalogue/models.ts'
import { measuredBy, tryModel } from '../../../infrastructure/catalogue/trial.ts'
import { hubSource } from '../../../infrastructure/hub/hub-source.ts'
import type { NamedSource } from '../../../infrastructure/hub/hub-source.ts'
import { pullModel } from '../../../infrastructure/hub/pull.ts'
import { didYouMean } from '../../../domain/shared/nearest-name.ts'
import { misused, quoted } from '../../command-error.ts'
import type { Values } from '../commands/command.ts'
import type { MODELS } from '../commands/streaming.ts'
import { withRunning } from '../control-client.ts'
import { checkedName, listedModels, rescan, modelsDirectory } from './found.ts'
import { isServiceRunning } from '../stores/tool-data.ts'
import { createProgressBar } from '../progress-bar.ts'
import { toolSettings } from '../tool-settings.ts'

type PullOptions = Values<typeof MODELS>

const hubOf = (given: string | undefined): URL | null => {
  const asked = given ?? toolSettings().hubUrl
  return asked === null ? null : new URL(asked)
}

const isDirectory = (what: string): boolean => /^(?:\.{0,2}\/|\.{1,2}$)/.test(what)

/** Where it comes from, and the name that it gets unless another is asked for. */
const sourceOf = (what: string, options: PullOptions): NamedSource => {
  if (isDirectory(what)) return { source: { kind: 'directory', path: resolve(what) }, name: modelNameOf(basename(resolve(what))) }
  const found = hubSource(what, hubOf(options.hub), { revision: options.revision })
  if (E.isRight(found)) return found.right
  const meant = didYouMean(what, PULLED_BY_NAME)
  throw misused(
    `Unknown model ${quoted(what)}.${meant} Use a name (base), a repository (owner/name) or a folder (./path).`,
    `Names: ${PULLED_BY_NAME.join(', ')}`,
  )
}

const DOES_NOT_RUN = 'the model does not run here, so it was not installed (--no-load installs it all the same)'

const tried = async (folder: string): Promise<Measured> => measuredBy(orThrow(await tryModel(folder), DOES_NOT_RUN))

const inMb = (bytes: number): string => (bytes / 1e6).toFixed(1)

/** Tells a running service; what it now says of the model. */
const announce = (name: string): Promise<string | null> =>
  withRunning(async (control) => {
    await rescan(control)
    const { models, pairs } = await listedModels(control)
    const row = models.find((model) => model.name === name) ?? pairs.find(({ model }) => model === name)
    if (row === undefined) return 'the running service does not list it: its STENOLOG_MODELS_DIR is another one'
    return row.active ? 'the running service lists it' : 'the running service lists it as inactive'
  })

/** Where nobody can be told. */
const whoSeesIt = (): string =>
  isServiceRunning(toolSettings().dataDir) ? 'the worker that runs here sees it within seconds' : 'a service sees it when it starts'

/** `stenolog models pull`: resolves to the exit code. */
export const pull = async (what: string, options: PullOptions): Promise<number> => {
  const { source, name: ownName } = sourceOf(what, options)
  const name = checkedName(options.as ?? ownName)
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
      console.error(`${name.padEnd(12)} whole; loading it`)
      return tried(staged)
    },
    onProgress: (done, total, path) => bar.show(total === 0 ? null : done / total, `${inMb(done)} of ${inMb(total)} MB  ${path}`),
    wait: (milliseconds) => setTimeout(milliseconds, undefined),
  }).finally(() => bar.end())
  const said = (await announce(modelNameOf(name))) ?? whoSeesIt()
  const memory = manifest.vram === undefined ? 'memory not measured' : `${manifest.vram.megabytes} MB of memory`
  console.log(options.json ? JSON.stringify({ name: modelNameOf(name), folder, ...manifest }) : `${name} is installed in ${folder} (${memory}); ${said}`)
  return 0
}
