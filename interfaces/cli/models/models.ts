import { parseArgs } from 'node:util'
import { PULLED_BY_NAME } from '../../../infrastructure/catalogue/models.ts'
import { listModels, switchModels } from './list.ts'
import { pull } from './pull.ts'
import { removeModel, verifyModels } from './files.ts'

export const MODELS_HELP = `stenolog models list [--json]
stenolog models enable|disable NAME [--json]
stenolog models pull WHAT [--precision int8|fp32|fp16] [--as NAME] [--revision REVISION] [--force] [--no-load] [--hub URL] [--json]
stenolog models verify [NAME]... [--json]
stenolog models remove NAME [--json]

Speech models and translators in STENOLOG_MODELS_DIR (<data>/models), and those that ship. Works beside a running service, which sees at once what
is pulled or removed, or without one.
WHAT           one of ${PULLED_BY_NAME.join(', ')};
               (the export that tells when words sound, where there is one);
               or owner/name, any ONNX export of Whisper or OPUS-MT on the hub; or a directory, written with ./ or / before it
--precision    of the weights; without it int8 where there is one, else fp32
--as NAME      name of its folder, and so of the model; for a translator it may say the languages (opus-mt-en-fr)
--revision     branch, tag or commit; default main
--force        replaces a folder of that name, once the new one is whole; a running service loads the new one with its next use
--no-load      does not try the model before it gets its place; its memory is then estimated until it is verified
--hub URL      another address than that of STENOLOG_HUB_URL or, without one, huggingface.co
--json         data as JSON

pull goes on where an earlier one was interrupted; a folder appears only when every file has the hash that the hub vouches for and
the model has been loaded and run once, by which its memory is measured.
verify says of each file whether it is missing, damaged or changed, loads what is right, and measures its memory; its exit code is 1
where anything is wrong. Of a folder that was not pulled it keeps the hashes, in stenolog.json, when it is right for the first time.
remove refuses what ships and what an open live uses.`

const optionsOf = (args: ReadonlyArray<string>) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      precision: { type: 'string' },
      as: { type: 'string' },
      revision: { type: 'string' },
      force: { type: 'boolean', default: false },
      'no-load': { type: 'boolean', default: false },
      hub: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })

/** `stenolog models …`: resolves to the exit code. */
export const models = async (args: ReadonlyArray<string>): Promise<number> => {
  const { values: options, positionals } = optionsOf(args)
  const [action, name, ...rest] = positionals
  if (action === 'list' && name === undefined) return listModels(options.json)
  if (action === 'verify') return verifyModels(positionals.slice(1), options.json)
  if (action === undefined || name === undefined || rest.length > 0) throw new Error('models needs a command and a NAME; see --help')
  switch (action) {
    case 'enable':
    case 'disable':
      return switchModels(name, action === 'enable', options.json)
    case 'pull':
      return pull(name, options)
    case 'remove':
      return removeModel(name, options.json)
    default:
      throw new Error(`models has no command ${action}; see --help`)
  }
}
