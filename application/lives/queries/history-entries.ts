import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { definitionOf } from '../../../domain/all-events.ts'
import { maskedUrl } from '../../../domain/live/masked-url.ts'
import { ERASED } from '../../../domain/shared/event.ts'
import type { Unavailable } from '../../errors.ts'
import { openEach, refusalOf } from '../../log/event-serialization.ts'
import type { StoredEvent } from '../../ports/event-store.ts'
import type { Keyring } from '../../ports/keyring.ts'

/** One event of a live, secrets masked. */
export interface HistoryEntry {
  /** From 1. */
  readonly id: number
  readonly type: string
  readonly at: string
  readonly actor: string
  /** Of the request, or of what else began, in whose course it happened. */
  readonly correlationId: string
  /** Of the command that did it. */
  readonly causationId: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Stands where a secret was. */
export const MASK = '***'

/** Of no use to anybody but the service. */
const isInternal = (member: string): boolean => member === 'commandId' || member.endsWith('Hash')

/** How an audio URL is shown: to its owner without its secrets, to administrators not at all. */
export type UrlMask = (url: string) => string
export const ofOwner: UrlMask = maskedUrl
export const ofAdministrator: UrlMask = () => MASK

/** Secrets masked; null stays null, it tells that there is none. */
const maskedMember = (member: string, value: unknown, isPersonal: boolean, urlMask: UrlMask): unknown => {
  if (!isPersonal || value === null) return value
  return member === 'audioUrl' && typeof value === 'string' && value !== ERASED ? urlMask(value) : MASK
}

/** Events of a live as its history shows them: an event's number in the stream is its place there. */
export const historyEntries =
  (keyring: Pick<Keyring, 'open'>) =>
  (stored: ReadonlyArray<StoredEvent>, urlMask: UrlMask): TaskEither<Unavailable, ReadonlyArray<HistoryEntry>> =>
  async () => {
    const opened = await openEach(keyring)(stored)()
    if (E.isLeft(opened)) return opened
    const entries: Array<HistoryEntry> = []
    for (const [index, event] of stored.entries()) {
      const { type, revision, metadata } = event
      const clear = opened.right[index]
      if (clear !== undefined && E.isLeft(clear) && clear.left._tag === 'EventMisfit')
        return E.left(refusalOf(event, clear.left))
      // What a newer version wrote down happened, whatever it says.
      const said = clear === undefined || E.isLeft(clear) ? {} : { ...(clear.right.data as object) }
      const personal = definitionOf(type)?.personal ?? []
      const members = Object.entries(said).filter(([member]) => !isInternal(member))
      const data = Object.fromEntries(
        members.map(([member, value]) => [member, maskedMember(member, value, personal.includes(member), urlMask)]),
      ) as HistoryEntry['data']
      const { recordedAt: at, actor, correlationId, causationId } = metadata
      entries.push({ id: revision + 1, type, at, actor, correlationId, causationId, data })
    }
    return E.right(entries)
  }
