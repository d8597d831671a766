import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { modelNameOf, PULLED_BY_NAME, repositoriesOf } from '../catalogue/models.ts'
import { createHubHttp } from './hub-http.ts'
import type { Source } from './pull.ts'
import { isRepositoryId } from './repository.ts'

/** What is fetched from the hub, and the name that it gets unless another is asked for. */
export interface NamedSource {
  readonly source: Source
  readonly name: string
}

interface HubSourceOptions {
  readonly revision?: string | undefined
  /** Breaks off what is fetched. */
  readonly signal?: AbortSignal | null
}

/** `what`: a model that we know by name, or `owner/name`. Left: what else it should be, to be read after its name. */
export const hubSource = (
  what: string,
  hub: URL | null,
  { revision = 'main', signal = null }: HubSourceOptions = {},
): Either<string, NamedSource> => {
  const known = repositoriesOf(what)
  if (known.length === 0 && !isRepositoryId(what))
    return E.left(`is none of ${PULLED_BY_NAME.join(', ')}, and no owner/name of the hub`)
  const ids = known.length === 0 ? [what] : known
  const name = known.length === 0 ? modelNameOf(what.slice(what.indexOf('/') + 1)) : what
  return E.right({ source: { kind: 'hub', http: createHubHttp(hub, signal), ids, revision }, name })
}
