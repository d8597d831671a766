import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { ModelRemoved } from '../../../domain/administration/events.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import type { AdmissionActor } from '../../admission/admission-actor.ts'
import type { Caller } from '../../caller.ts'
import type { ModelInUse, ModelNotFound, ModelsElsewhere, ModelShips, PairNotFound, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { recordAdministration } from '../../log/record-administration.ts'
import type { Catalogue } from '../../ports/catalogue.ts'
import type { InstalledModels } from '../../ports/installed-models.ts'
import { openLivesWith } from '../queries/list-installed-models.ts'

/** For administrators: removes the folder of a model that no open live uses. */
type Remove<NotFound> = (
  caller: Caller,
  id: number,
) => TaskEither<NotFound | ModelInUse | ModelShips | ModelsElsewhere | Unavailable, void>

export type RemoveModel = Remove<ModelNotFound>
/** Of a pair: with its translator go all other pairs of that. */
export type RemoveTranslation = Remove<PairNotFound>

export interface RemoveModelDeps extends WriteDeps {
  readonly catalogue: Pick<Catalogue, 'models' | 'translations'>
  readonly onDisk: InstalledModels
  /** Looks again what is installed. Rejects when the store cannot be reached. */
  readonly rescan: () => Promise<void>
  readonly admission: Pick<AdmissionActor, 'state'>
}

/** First out of sight, so that nobody can begin to use it, then for good. */
const removeFolder = async (deps: RemoveModelDeps, name: string): Promise<Either<ModelInUse | Unavailable, void>> => {
  const { onDisk, rescan, admission } = deps
  try {
    const hidden = await onDisk.hide(name)
    await rescan().catch(async (error: unknown) => {
      await hidden.restore()
      throw error
    })
    // A live may have been created in between.
    const lives = openLivesWith(admission, name)
    if (lives === 0) {
      await hidden.destroy()
      return E.right(undefined)
    }
    await hidden.restore()
    await rescan()
    return E.left({ _tag: 'ModelInUse', lives })
  } catch (error) {
    return E.left({ _tag: 'StoreUnavailable', reason: messageOf(error) })
  }
}

const removeOf =
  <NotFound>(deps: RemoveModelDeps, nameOf: (id: number) => string | undefined, notFound: NotFound): Remove<NotFound> =>
  (caller, id) =>
  async () => {
    const name = nameOf(id)
    const found = deps.onDisk.all().find((model) => model.name === name)
    if (name === undefined || found === undefined) return E.left(notFound)
    if (found.ships) return E.left({ _tag: 'ModelShips' })
    const lives = openLivesWith(deps.admission, name)
    if (lives > 0) return E.left({ _tag: 'ModelInUse', lives })
    const data = { name, at: deps.environment.now() }
    const recorded = await recordAdministration(deps, caller, { type: ModelRemoved.type, data })
    return E.isLeft(recorded) ? recorded : await removeFolder(deps, name)
  }

export const removeModel = (deps: RemoveModelDeps): RemoveModel =>
  removeOf<ModelNotFound>(
    deps, (id) => deps.catalogue.models().find((model) => model.id === id)?.name, { _tag: 'ModelNotFound' },
  )

export const removeTranslation = (deps: RemoveModelDeps): RemoveTranslation =>
  removeOf<PairNotFound>(
    deps, (id) => deps.catalogue.translations().find((pair) => pair.id === id)?.model, { _tag: 'PairNotFound' },
  )
