import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { ModelsElsewhere } from '../../errors.ts'

/** Replaces the commands that change models, in a process without models. */
export const modelsElsewhere = (): TaskEither<ModelsElsewhere, never> => TE.left({ _tag: 'ModelsElsewhere' })
