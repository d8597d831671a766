import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { ModelsElsewhere } from '../../errors.ts'

/** In place of what changes the models of a machine, in a process that runs none. */
export const modelsElsewhere = (): TaskEither<ModelsElsewhere, never> => TE.left({ _tag: 'ModelsElsewhere' })
