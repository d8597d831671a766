import { basename, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import type { Measured } from '../../../infrastructure/catalogue/manifest.ts'
import { modelNameOf } from '../../../infrastructure/catalogue/models.ts'
import { measuredBy, tryModel } from '../../../infrastructure/catalogue/trial.ts'
import { PRECISIONS } from '../../../infrastructure/hub/export-files.ts'
import { hubSource } from '../../../infrastructure/hub/hub-source.ts'
import type { NamedSource } from '../../../infrastructure/hub/hub-source.ts'
import { pullModel } from '../../../infrastructure/hub/pull.ts'
import type { Precision } from '../../../infrastructure/onnx/model-weights.ts'
import { withRunning } from '../control-client.ts'
import { checkedName, listedModels, rescan, modelsDirectory } from './found.ts'
import { createProgressBar } from '../progress-bar.ts'
import { toolSettings } from '../tool-settings.ts'

/** Options of the command line as they were given. */
interface PullArguments {
  readonly precision?: string | undefined
  readonly as?: string | undefined
  readonly revision?: string | undefined
  readonly hub?: string | undefined
  readonly force: boolean
  readonly 'no-load': boolean
  readonly json: boolean
}

const precisionOf = (given: string | undefined): Precision | null => {
  if (given === undefined) return null
  const found = PRECISIONS.find((precision) => precision === given)
  if (found === undefined) throw new Error(`--precision is one of ${PRECISIONS.join(', ')}`)
  return found
}

const hubOf = (given: string | undefined): URL | null => {
  const asked = given ?? toolSettings().hubUrl
  if (asked === null) return null
  const url = URL.parse(asked)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Error('--hub is an http or https URL')
  return url
}

const isDirectory = (what: string): boolean => /^(?:\.{0,2}\/|\.{1,2}$)/.test(what)

/** Where it comes from, and the name that it gets unless another is asked for. */
const sourceOf = (what: string, options: PullArguments): NamedSource => {
  if (isDirectory(what)) return { source: { kind: 'directory', path: resolve(what) }, name: modelNameOf(basename(resolve(what))) }
  const found = hubSource(what, hubOf(options.hub), { revision: options.revision })
  if (E.isLeft(found)) throw new Error(`${what} ${found.left}, and no directory (write ./ before it)`)
  return found.right
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

/** `stenolog models pull`: resolves to the exit code. */
export const pull = async (what: string, options: PullArguments): Promise<number> => {
  const modelsDir = modelsDirectory()
  const { source, name: ownName } = sourceOf(what, options)
  const name = checkedName(options.as ?? ownName)
  const bar = createProgressBar(process.stderr, name)
  const { folder, manifest } = await pullModel({
    source,
    modelsDir,
    name,
    precision: precisionOf(options.precision),
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
  const said = (await announce(modelNameOf(name))) ?? 'a service sees it when it starts'
  const memory = manifest.vram === undefined ? 'memory not measured' : `${manifest.vram.megabytes} MB of memory`
  console.log(options.json ? JSON.stringify({ name: modelNameOf(name), folder, ...manifest }) : `${name} is installed in ${folder} (${memory}); ${said}`)
  return 0
}
