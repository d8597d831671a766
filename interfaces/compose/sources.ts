import type { CreateLiveDeps } from '../../application/lives/commands/create-live.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { Settings } from '../../infrastructure/settings.ts'
import { examineIsolation } from '../../infrastructure/sources/source-isolation.ts'
import type { SourceIsolation } from '../../infrastructure/sources/source-isolation.ts'
import { createAddressGuard, namesForbiddenAddress } from '../../infrastructure/sources/network/address-guard.ts'
import type { AddressRules } from '../../infrastructure/sources/network/address-guard.ts'

/** Examines whether decoders of URL sources can be isolated on this machine. Logs a warning if not. */
export const examineLocalIsolation = async (settings: Settings, logger: Logger): Promise<SourceIsolation> => {
  const isolation = await examineIsolation(settings.sourceIsolation)
  const { problem } = isolation
  if (problem !== null) logger.warn({ problem }, 'decoders of URL sources are not isolated')
  return isolation
}

/** Creates the check of the audio URL of a new session. It returns a refusal, or null when the URL may be used. */
export const createPullRefusal =
  ({ pulls }: Pick<SourceIsolation, 'pulls'>, rules: () => AddressRules): CreateLiveDeps['pullRefusal'] =>
  (url) => {
    if (!pulls) return { _tag: 'SourcesNotIsolated' }
    return namesForbiddenAddress(createAddressGuard(rules()), url) ? { _tag: 'AudioUrlForbidden' } : null
  }
