import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { messageOf } from '../../../domain/shared/message-of.ts'
import type { ModelsElsewhere, Unavailable } from '../../refusals.ts'
import type { Catalogue, Model } from '../../ports/catalogue.ts'

/** For administrators: reads the installed models again, and returns the models of the catalogue. */
export type RescanModels = () => Promise<Either<ModelsElsewhere | Unavailable, ReadonlyArray<Model>>>

export interface RescanModelsDeps {
  readonly rescan: () => Promise<void>
  readonly catalogue: Pick<Catalogue, 'models'>
}

export const rescanModels =
  ({ rescan, catalogue }: RescanModelsDeps): RescanModels =>
  async () => {
    try {
      await rescan()
      return E.right(catalogue.models())
    } catch (error) {
      return E.left({ _tag: 'StoreUnavailable', reason: messageOf(error) })
    }
  }
