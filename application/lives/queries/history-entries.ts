import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { definitionOf } from '../../../domain/all-events.ts'
import { maskedUrl } from '../../../domain/live/masked-url.ts'
import { ERASED } from '../../../domain/shared/event.ts'
import type { Unavailable } from '../../refusals.ts'
import { openEach, refusalOf } from '../../log/event-serialization.ts'
import type { StoredEvent } from '../../ports/event-store.ts'
import type { Keyring } from '../../ports/keyring.ts'

/** One event of a session, with masked secrets. */
export interface HistoryEntry {
  /** Position in the history, from 1. */
  readonly id: number
  readonly type: string
  readonly at: string
  readonly actor: string
  /** Id of the request or process step that led to the event. */
  readonly correlationId: string
  /** Id of the command that wrote the event. */
  readonly causationId: string
  readonly data: Readonly<Record<string, unknown>>
}

export const MASK = '***'

/** Members that only the service uses. */
const isInternal = (member: string): boolean => member === 'commandId' || member.endsWith('Hash')

/** Masks an audio URL: owners see it without secrets, administrators see only the mask. */
export type UrlMask = (url: string) => string
export const maskForOwner: UrlMask = maskedUrl
export const maskForAdministrator: UrlMask = () => MASK

/** Masks a personal member. Null stays null, because it shows that the member is absent. */
const maskedMember = (member: string, value: unknown, isPersonal: boolean, urlMask: UrlMask): unknown => {
  if (!isPersonal || value === null) return value
  return member === 'audioUrl' && typeof value === 'string' && value !== ERASED ? urlMask(value) : MASK
}

/** Converts stored events of a session into history entries. The revision of an event gives its position. */
export const historyEntries =
  (keyring: Pick<Keyring, 'open'>) =>
  async (
    stored: ReadonlyArray<StoredEvent>, urlMask: UrlMask,
  ): Promise<Either<Unavailable, ReadonlyArray<HistoryEntry>>> => {
    const opened = await openEach(keyring)(stored)
    if (E.isLeft(opened)) return opened
    const entries: Array<HistoryEntry> = []
    for (const [index, event] of stored.entries()) {
      const { type, revision, metadata } = event
      const clear = opened.right[index]
      if (clear !== undefined && E.isLeft(clear) && clear.left._tag === 'EventMisfit')
        return E.left(refusalOf(event, clear.left))
      // A newer version may have written an event of an unknown type. Its entry is shown without data.
      const plain = clear === undefined || E.isLeft(clear) ? {} : { ...(clear.right.data as object) }
      const personal = definitionOf(type)?.personal ?? []
      const members = Object.entries(plain).filter(([member]) => !isInternal(member))
      const data = Object.fromEntries(
        members.map(([member, value]) => [member, maskedMember(member, value, personal.includes(member), urlMask)]),
      ) as HistoryEntry['data']
      const { recordedAt: at, actor, correlationId, causationId } = metadata
      entries.push({ id: revision + 1, type, at, actor, correlationId, causationId, data })
    }
    return E.right(entries)
  }
