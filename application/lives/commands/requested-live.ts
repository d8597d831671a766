import type { AudioFormat, LiveCreated } from '../../../domain/live/events.ts'
import type { EngineSettings } from '../../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../../domain/live/vocabulary.ts'
import type { EventOf } from '../../../domain/shared/event.ts'
import type { Caller } from '../../caller.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { Environment } from '../../ports/environment.ts'
import type { LiveFacts } from '../../ports/read-models.ts'
import type { ChosenModels } from '../choose-models.ts'

/** A valid request for a session: defaults are filled in and bounds are checked. */
export interface CreateLiveRequest {
  readonly model: string
  readonly language: string
  readonly audioFormat: AudioFormat
  /** Null for the audio format raw. */
  readonly audioUrl: string | null
  /** Codes of the target languages, without duplicates. */
  readonly translations: ReadonlyArray<string>
  /** False for the audio format raw. */
  readonly autoStart: boolean
  readonly retention: boolean
  readonly config: EngineSettings
  /** Words that speakers are likely to use. Absent when the request has none. */
  readonly vocabulary?: GivenVocabulary
  readonly display: LiveFacts['display']
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
): Omit<EventOf<typeof LiveCreated>['data'], 'at'> => {
  const { audioUrl } = request
  const senderToken = newSecret()
  const listenerToken = request.listenerToken ?? newSecret()
  return {
    ...identity,
    userId: caller.userId,
    model: { id: chosen.model.id, name: chosen.model.name, vram: chosen.model.vram },
    language: request.language,
    translations: chosen.pairs.map(({ id, model, from, to, vram }) =>
      chosen.isLanguageDetected ? { id, model, from, to, vram } : { id, model, to, vram }),
    audioFormat: request.audioFormat,
    audioUrl,
    audioUrlHash: audioUrl === null ? null : keyedHash('audio-url', audioUrl),
    autoStart: request.autoStart,
    retention: request.retention && caller.permissions.includes('user_retention'),
    vram: chosen.vram,
    config: request.config,
    ...(request.vocabulary && { vocabulary: request.vocabulary }),
    display: request.display,
    senderToken,
    senderTokenHash: keyedHash('live-token', senderToken),
    listenerToken,
    listenerTokenHash: keyedHash('live-token', listenerToken),
  }
}
