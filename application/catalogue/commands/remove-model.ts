import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { ModelRemoved } from '../../../domain/admin-actions/events.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import type { AdmissionActor } from '../../admission/admission-actor.ts'
import type { Caller } from '../../caller.ts'
import type {
  ModelInUse, ModelIsBundled, ModelNotFound, ModelsElsewhere, PairNotFound, Unavailable,
} from '../../refusals.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { recordAdministration } from '../../log/record-administration.ts'
import type { Catalogue } from '../../ports/catalogue.ts'
import type { InstalledModels } from '../../ports/installed-models.ts'
import { openLivesWith } from '../queries/list-installed-models.ts'

/** For administrators: removes the folder of a model that no open session uses. */
type Remove<NotFound> = (
  caller: Caller,
  id: number,
) => Promise<Either<NotFound | ModelInUse | ModelIsBundled | ModelsElsewhere | Unavailable, void>>

export type RemoveModel = Remove<ModelNotFound>
/** Removes the translator of a pair. All other pairs of this translator are removed with it. */
export type RemoveTranslation = Remove<PairNotFound>

export interface RemoveModelDeps extends WriteDeps {
  readonly catalogue: Pick<Catalogue, 'models' | 'translations'>
  readonly onDisk: InstalledModels
  /** Reads the installed models again. Rejects when the event store is unavailable. */
  readonly rescan: () => Promise<void>
  readonly admission: Pick<AdmissionActor, 'state'>
}

/** Moves the folder away first, so no new session can use the model, and then removes it. */
const removeFolder = async (deps: RemoveModelDeps, name: string): Promise<Either<ModelInUse | Unavailable, void>> => {
  const { onDisk, rescan, admission } = deps
  try {
    const hidden = await onDisk.hide(name)
    await rescan().catch(async (error: unknown) => {
      await hidden.restore()
      throw error
    })
    // A session may have been created in the meantime.
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
  async (caller, id) => {
    const installed = deps.onDisk.all().find(({ name }) => name === nameOf(id))
    if (installed === undefined) return E.left(notFound)
    const { name, ships } = installed
    if (ships) return E.left({ _tag: 'ModelIsBundled' })
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
