import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { ModelsElsewhere } from '../../refusals.ts'

/** Replaces the commands that change models, in a process without models. */
export const modelsElsewhere = async (): Promise<Either<ModelsElsewhere, never>> => E.left({ _tag: 'ModelsElsewhere' })
