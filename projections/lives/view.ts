import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Keyring, KeyringUnavailable, SealedMember } from '../../application/ports/keyring.ts'
import type { LiveFacts, LiveView } from '../../application/ports/read-models.ts'
import {
  KEPT_IN_CLEAR, KEPT_SEALED, LiveCreated, liveKey, liveStream, openedVocabulary, VocabularyChanged,
} from '../../domain/live/events.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { type Envelope, ERASED } from '../../domain/shared/event.ts'
import { pick } from '../../domain/shared/pick.ts'
import type { LiveDocument } from './document.ts'

const FACTS = ['id', 'status', ...KEPT_IN_CLEAR, 'autoStartPid', 'createdAt', 'updatedAt'] as const

/** Leaves out secrets and internal members of the document, such as its position. */
export const factsOf = (live: LiveFacts): LiveFacts => pick(FACTS, live)

type SealedName = (typeof KEPT_SEALED)[number]
type SealedTexts = Pick<LiveView, Exclude<SealedName, 'vocabulary'>> & { readonly vocabulary?: string }

/** Returns the event members that can have sealed a member of the document. */
const sealedBy = (name: SealedName): ReadonlyArray<string> =>
  [LiveCreated, ...(name === 'vocabulary' ? [VocabularyChanged] : [])].map(({ type }) => `${type}.${name}`)

const sealedIn = (live: LiveDocument, name: SealedName): ReadonlyArray<SealedMember> => {
  const envelope = live[name]
  if (envelope === null || envelope === undefined) return []
  return [{ envelope, key: liveKey(live.id), stream: liveStream(live.id), members: sealedBy(name) }]
}

const openedView = (live: LiveDocument, textOf: (envelope: Envelope) => string): LiveView => {
  const texts = Object.entries(pick(KEPT_SEALED, live)).map(([name, sealed]) => [name, sealed && textOf(sealed)])
  const { vocabulary, ...others } = Object.fromEntries(texts) as SealedTexts
  return { ...factsOf(live), ...others, ...(vocabulary && { vocabulary: openedVocabulary(vocabulary) }) }
}

/** Opens the sealed members of sessions in one call. Erased members read `[erased]`. */
export const openLives =
  (keyring: Pick<Keyring, 'open'>) =>
  async (lives: ReadonlyArray<LiveDocument>): Promise<Either<KeyringUnavailable, ReadonlyArray<LiveView>>> => {
    if (lives.length === 0) return E.right([])
    const sealed = lives.flatMap((live) => KEPT_SEALED.flatMap((name) => sealedIn(live, name)))
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
