import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Keyring, KeyringUnavailable, SealedMember } from '../../application/ports/keyring.ts'
import type { FactsOf, LiveFacts, LiveView, ViewOf } from '../../application/ports/read-models.ts'
import { LiveCreated, liveKey, liveStream, openedVocabulary, VocabularyChanged } from '../../domain/live/events.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { ERASED } from '../../domain/shared/event.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import type { LiveDocument } from './document.ts'
import { foldLive } from './projection.ts'

/** Named one by one: a stored document holds members (its position) that are nobody's business. */
export const factsOf = (live: LiveDocument): LiveFacts => ({
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

/** Of the events that may have sealed it. */
const sealedBy = (name: (typeof SECRETS)[number]): ReadonlyArray<string> =>
  [LiveCreated, ...(name === 'vocabulary' ? [VocabularyChanged] : [])].map(({ type }) => `${type}.${name}`)

const sealedIn = (live: LiveDocument, name: (typeof SECRETS)[number]): ReadonlyArray<SealedMember> => {
  const envelope = live[name]
  if (envelope === null || envelope === undefined) return []
  return [{ envelope, key: liveKey(live.id), stream: liveStream(live.id), members: sealedBy(name) }]
}

/** The sealed members of lives, opened in one call; what was erased reads ERASED. */
export const openLives =
  (keyring: Pick<Keyring, 'open'>) =>
  (lives: ReadonlyArray<LiveDocument>): TaskEither<KeyringUnavailable, ReadonlyArray<LiveView>> =>
  async () => {
    if (lives.length === 0) return E.right([])
    const sealed = lives.flatMap((live) => SECRETS.flatMap((name) => sealedIn(live, name)))
    const opened = await keyring.open(sealed)()
    if (E.isLeft(opened)) return opened
    const texts = new Map(sealed.map(({ envelope }, index) => [envelope, textOrErased(opened.right[index])] as const))
    const textOf = (envelope: Envelope): string => texts.get(envelope) ?? ERASED
    return E.right(
      lives.map((live) => ({
        ...factsOf(live),
        audioUrl: live.audioUrl && textOf(live.audioUrl),
        senderToken: textOf(live.senderToken),
        listenerToken: textOf(live.listenerToken),
        ...(live.vocabulary && { vocabulary: openedVocabulary(textOf(live.vocabulary)) }),
      })),
    )
  }

/** One live with its sealed members opened. */
export const openLive =
  (keyring: Pick<Keyring, 'open'>) =>
  (live: LiveDocument): TaskEither<KeyringUnavailable, LiveView> =>
    TE.map(([view]: ReadonlyArray<LiveView>) => {
      if (view === undefined) throw new Error('one live in, no live out')
      return view
    })(openLives(keyring)([live]))

/** The same without what is sealed. */
export const factsOfEvents: FactsOf = (events) => {
  const live = foldLive(events)
  return live && factsOf(live)
}

/** From the same fold that makes the lists, so that an answer to a write and the next read agree. */
export const viewOf =
  ({ keyring }: { readonly keyring: Pick<Keyring, 'open'> }): ViewOf =>
  (events) =>
  async () => {
    const live = foldLive(events)
    if (live === null) throw new Error('these events make no live')
    return await openLive(keyring)(live)()
  }
