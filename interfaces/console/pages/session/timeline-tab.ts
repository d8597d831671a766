import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { HistoryEntry, LiveIntegrity } from '../../../client/operations.ts'
import { badge } from '../../components/badge.ts'
import { listing } from '../../components/listing.ts'
import { whenLoaded } from '../../components/loading.ts'
import { en, formatClock, t, type TextName } from '../../messages/texts.ts'
import { useLoaded } from '../../state/loading.ts'
import { user } from '../../state/login.ts'
import { bdi, button, code, details, div, h2, input, label, p, pre, span, strong, summary,
  view } from '../../ui/tags.ts'

/** The requests of the timeline. The routes differ for own sessions and for an administrator. */
export interface TimelineReads {
  readonly history: () => Promise<ReadonlyArray<HistoryEntry>>
  readonly integrity: () => Promise<LiveIntegrity>
  readonly stateAt: (entry: number) => Promise<object>
}

interface TimelineProps {
  readonly reads: TimelineReads
}

const isText = (name: string): name is TextName => Object.hasOwn(en, name)

/** Returns a text member of an event; empty for other values. */
export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '')

const eventText = ({ type, data }: HistoryEntry): string => {
  const name = `event_${type}`
  return isText(name)
    ? t(name, { reason: textOrEmpty(data['reason']), code: textOrEmpty(data['code']) })
    : t('event_other', { type })
}

/** Names the actor of an event: this user by name, other users by id, or the service. */
export const actorText = (actor: string): string => {
  const [kind, id = ''] = actor.split(':', 2)
  if (kind === 'instance') return t('actor_service')
  if (kind !== 'user') return actor
  return Number(id) === user.value?.id ? user.value.username : t('actor_user', { id })
}

const integrityBadge = ({ status, entries, damaged }: LiveIntegrity): VNode => {
  if (status === 'unavailable') return badge('muted', '○', t('integrity_unavailable'))
  if (status === 'damaged') return badge('bad', '!', t('integrity_damaged', { count: damaged.length }))
  return badge('good', '✓', t('integrity_intact', { entries }))
}

/** Lists the members of a state as text. Nested members have a path, such as `config.mode`. */
const members = (value: unknown, path = ''): ReadonlyArray<readonly [path: string, text: string]> => {
  if (typeof value !== 'object' || value === null) return [[path, String(value)]]
  return Object.entries(value).flatMap(([name, inner]) => members(inner, path === '' ? name : `${path}.${name}`))
}

interface StateProps {
  readonly reads: TimelineReads
  readonly entries: ReadonlyArray<HistoryEntry>
  /** Index of the event in `entries`. */
  readonly index: number
}

/** Shows the state of the session after an event and marks the members that the event changed. */
const State = ({ reads, entries, index }: StateProps): VNode => {
  const { state, reload } = useLoaded(
    () => Promise.all([
      reads.stateAt(entries[index]?.id ?? 1), index > 0 ? reads.stateAt(entries[index - 1]?.id ?? 1) : null,
    ]),
    String(index),
  )
  return whenLoaded(state.value, reload, ([now, before]) => {
    const textsBefore = new Map(before === null ? [] : members(before))
    const rows = members(now).map(([path, text]) => {
      const isChanged = before !== null && textsBefore.get(path) !== text
      const cell = isChanged ? strong(null, bdi(null, text), ` ← ${t('changed')}`) : bdi(null, text)
      return { key: path, cells: [code(null, path), cell] }
    })
    return listing(t('state_then'), [t('member'), t('value')], rows)
  })
}

const causeOf = (entry: HistoryEntry): string => t('request_cause', { id: entry.correlation_id.slice(0, 13) })

/** A separate component, because a damaged event can make the history unreadable. */
const Integrity = ({ reads }: TimelineProps): VNode => {
  const { state, reload } = useLoaded(reads.integrity, '')
  return whenLoaded(state.value, reload, (found) =>
    p(null, integrityBadge(found), ' ', span({ class: 'hint' }, t('integrity_hint'))))
}

export const integrity = view(Integrity)

const History = ({ reads }: TimelineProps): VNode => {
  const { state, reload } = useLoaded(reads.history, '')
  const chosen = useSignal<number | null>(null)
  return whenLoaded(state.value, reload, (entries) => {
    const index = Math.min(chosen.value ?? entries.length - 1, entries.length - 1)
    const go = (to: number): void => {
      chosen.value = Math.max(0, Math.min(entries.length - 1, to))
    }
    const entry = entries[index]
    return div(
      null,
      listing(
        t('tab_timeline'), [t('event_number'), t('event_time'), t('event_what'), t('event_actor'), t('event_cause'),
          t('event_data')],
        entries.map((item, i) => ({
          key: item.id,
          cells: [
            button({ type: 'button', 'aria-pressed': i === index, onClick: () => go(i) }, String(item.id)),
            formatClock(item.at), bdi(null, eventText(item)), bdi({ title: item.actor }, actorText(item.actor)),
            code(null, causeOf(item)),
            details(null, summary(null, item.type), pre(null, JSON.stringify(item.data, null, 1))),
          ],
        })),
      ),
      h2(null, t('state_then')),
      div(
        { class: 'status-line' },
        button({ type: 'button', disabled: index === 0, onClick: () => go(index - 1), 'data-key': '[',
          'aria-label': t('event_before') }, '◂'),
        label({ for: 'event' }, t('event_slider')),
        input({
          type: 'range', id: 'event', min: 1, max: entries.length, value: index + 1,
          onInput: ({ currentTarget }) => go(Number(currentTarget.value) - 1),
        }),
        button({ type: 'button', disabled: index === entries.length - 1, onClick: () => go(index + 1), 'data-key': ']',
          'aria-label': t('event_after') }, '▸'),
        entry === undefined ? null
          : span(null, t('after_event', { entry: entry.id, total: entries.length, at: formatClock(entry.at) })),
      ),
      entries.length === 0 ? null : view(State)({ reads, entries, index }),
    )
  })
}

const Timeline = (props: TimelineProps): VNode => div(null, integrity(props), view(History)(props))

export const timeline = view(Timeline)
