import type { LiveCreatedData } from '../../../domain/live/events.ts'
import type { Caller } from '../../caller.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { Environment } from '../../ports/environment.ts'
import type { ChosenModels } from '../choose-models.ts'

/** Members of LiveCreated that the service chooses, or that it makes of what was requested. */
type Made =
  | 'liveId' | 'userId' | 'at' | 'commandId' | 'worker' | 'model' | 'translations' | 'audioUrlHash' | 'vram'
  | 'senderToken' | 'senderTokenHash' | 'listenerToken' | 'listenerTokenHash'

/** A valid request for a session: defaults are filled in and bounds are checked. */
export interface CreateLiveRequest extends Omit<LiveCreatedData, Made> {
  readonly model: string
  /** Codes of the target languages, without duplicates. */
  readonly translations: ReadonlyArray<string>
  /** Custom listener token. Null for a random token. */
  readonly listenerToken: string | null
}

/** A request, its caller and the models that were found for it. */
export interface RequestedLive {
  readonly caller: Caller
  readonly request: CreateLiveRequest
  readonly chosen: ChosenModels
}

interface RequestedLiveDeps {
  readonly environment: Pick<Environment, 'newSecret'>
  readonly credentials: Pick<Credentials, 'keyedHash'>
}

/** Returns the data of LiveCreated, with new tokens. */
export const liveCreatedData = (
  { environment: { newSecret }, credentials: { keyedHash } }: RequestedLiveDeps,
  { caller, request, chosen }: RequestedLive,
  identity: { readonly liveId: number; readonly commandId: string; readonly worker: string },
): Omit<LiveCreatedData, 'at'> => {
  const {
    model: _name, translations: _codes, language, audioFormat, audioUrl, autoStart, retention, listenerToken: wanted,
    ...others
  } = request
  const senderToken = newSecret()
  const listenerToken = wanted ?? newSecret()
  return {
    ...identity,
    userId: caller.userId,
    model: { id: chosen.model.id, name: chosen.model.name, vram: chosen.model.vram },
    language,
    translations: chosen.pairs.map(({ id, model, from, to, vram }) =>
      chosen.isLanguageDetected ? { id, model, from, to, vram } : { id, model, to, vram }),
    audioFormat,
    audioUrl,
    audioUrlHash: audioUrl === null ? null : keyedHash('audio-url', audioUrl),
    autoStart,
    retention: retention && caller.permissions.includes('user_retention'),
    vram: chosen.vram,
    ...others,
    senderToken,
    senderTokenHash: keyedHash('live-token', senderToken),
    listenerToken,
    listenerTokenHash: keyedHash('live-token', listenerToken),
  }
}
