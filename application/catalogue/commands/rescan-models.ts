import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { messageOf } from '../../../domain/shared/message-of.ts'
import type { ModelsElsewhere, Unavailable } from '../../errors.ts'
import type { Catalogue, Model } from '../../ports/catalogue.ts'

/** For administrators: looks again which models are installed, and answers them all. */
export type RescanModels = () => TaskEither<ModelsElsewhere | Unavailable, ReadonlyArray<Model>>

export interface RescanModelsDeps {
  readonly rescan: () => Promise<void>
  /** What new lives are created from. */
  readonly catalogue: Pick<Catalogue, 'models'>
}

export const rescanModels =
  ({ rescan, catalogue }: RescanModelsDeps): RescanModels =>
  () =>
    TE.tryCatch(
      async () => {
        await rescan()
        return catalogue.models()
      },
      (error) => ({ _tag: 'StoreUnavailable', reason: messageOf(error) }) as const,
    )
