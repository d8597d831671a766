import type { CreateLiveDeps } from '../../application/lives/commands/create-live.ts'
import type { SourceIsolation } from '../../infrastructure/sources/source-isolation.ts'
import {
  type AddressRules, createAddressGuard, namesForbiddenAddress,
} from '../../infrastructure/sources/network/address-guard.ts'
import type { Foundation } from './foundation.ts'

/** What the service may pull from audio URLs. */
export interface Sources {
  readonly isolation: SourceIsolation
  readonly rules: () => AddressRules
  /** Checks the audio URL of a new session. */
  readonly pullRefusal: CreateLiveDeps['pullRefusal']
  /** Audio URLs must never point to this service. A port of 0 is known only after it is bound. */
  readonly setOwnPort: (port: number) => void
}

export const openSources = async ({ settings, isolating }: Foundation): Promise<Sources> => {
  let ownPort = settings.port === 0 ? null : settings.port
  const rules = (): AddressRules => ({ allow: settings.audioUrlAllowCidrs ?? [], ownPort })
  const isolation = await isolating
  return {
    isolation,
    rules,
    pullRefusal: (url) => {
      if (!isolation.pulls) return { _tag: 'SourcesNotIsolated' }
      return namesForbiddenAddress(createAddressGuard(rules()), url) ? { _tag: 'AudioUrlForbidden' } : null
    },
    setOwnPort: (port) => {
      ownPort = port
    },
  }
}
