import { readArguments } from '../commands/read-arguments.ts'
import { MODELS } from '../commands/streaming.ts'
import { listModels, switchModels } from './list.ts'
import { pull } from './pull.ts'
import { removeModel, verifyModels } from './verify-and-remove.ts'

/** Runs `stenolog models …`. Resolves to the exit code. */
export const models = async (args: ReadonlyArray<string>): Promise<number> => {
  const { action, operands, options } = readArguments(MODELS, args)
  const [name = ''] = operands
  switch (action) {
    case 'list':
      return listModels(options.json)
    case 'verify':
      return verifyModels(operands, options.json)
    case 'enable':
    case 'disable':
      return switchModels(name, action === 'enable', options.json)
    case 'pull':
      return pull(name, options)
    default:
      return removeModel(name, options.json)
  }
}
