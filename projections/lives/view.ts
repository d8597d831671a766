import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Keyring, KeyringUnavailable, SealedMember } from '../../application/ports/keyring.ts'
import type { LiveFacts, LiveView } from '../../application/ports/read-models.ts'
import { LiveCreated, liveKey, liveStream, openedVocabulary, VocabularyChanged } from '../../domain/live/events.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { ERASED } from '../../domain/shared/event.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import type { LiveDocument } from './document.ts'

/** Lists the members one by one, so that internal members of the document, such as its position, stay hidden. */
export const factsOf = (live: LiveFacts): LiveFacts => ({
  id: live.id,
  userId: live.userId,
  status: live.status,
  worker: live.worker,
  model: live.model,
  language: live.language,
  translations: live.translations,
  audioFormat: live.audioFormat,
  audioUrlHash: live.audioUrlHash,
  autoStart: live.autoStart,
  autoStartPid: live.autoStartPid,
  retention: live.retention,
  vram: live.vram,
  config: live.config,
  display: live.display,
  createdAt: live.createdAt,
  updatedAt: live.updatedAt,
})

const SECRETS = ['senderToken', 'listenerToken', 'audioUrl', 'vocabulary'] as const

/** Returns the event members that can have sealed a member of the document. */
const sealedBy = (name: (typeof SECRETS)[number]): ReadonlyArray<string> =>
  [LiveCreated, ...(name === 'vocabulary' ? [VocabularyChanged] : [])].map(({ type }) => `${type}.${name}`)

const sealedIn = (live: LiveDocument, name: (typeof SECRETS)[number]): ReadonlyArray<SealedMember> => {
  const envelope = live[name]
  if (envelope === null || envelope === undefined) return []
  return [{ envelope, key: liveKey(live.id), stream: liveStream(live.id), members: sealedBy(name) }]
}

const openedView = (live: LiveDocument, textOf: (envelope: Envelope) => string): LiveView => ({
  ...factsOf(live),
  audioUrl: live.audioUrl && textOf(live.audioUrl),
  senderToken: textOf(live.senderToken),
  listenerToken: textOf(live.listenerToken),
  ...(live.vocabulary && { vocabulary: openedVocabulary(textOf(live.vocabulary)) }),
})

/** Opens the sealed members of sessions in one call. Erased members read `[erased]`. */
export const openLives =
  (keyring: Pick<Keyring, 'open'>) =>
  async (lives: ReadonlyArray<LiveDocument>): Promise<Either<KeyringUnavailable, ReadonlyArray<LiveView>>> => {
    if (lives.length === 0) return E.right([])
    const sealed = lives.flatMap((live) => SECRETS.flatMap((name) => sealedIn(live, name)))
    const opened = await keyring.open(sealed)
    if (E.isLeft(opened)) return opened
    const texts = new Map(sealed.map(({ envelope }, index) => [envelope, textOrErased(opened.right[index])]))
    return E.right(lives.map((live) => openedView(live, (envelope) => texts.get(envelope) ?? ERASED)))
  }

/** Opens the sealed members of one session. */
export const openLive =
  (keyring: Pick<Keyring, 'open'>) =>
  async (live: LiveDocument): Promise<Either<KeyringUnavailable, LiveView>> => {
    const opened = await openLives(keyring)([live])
    if (E.isLeft(opened)) return opened
    const [view] = opened.right
    if (view === undefined) throw new Error(`the keyring returned no view of session ${live.id}`)
    return E.right(view)
  }
