import type * as t from 'io-ts'
import { allEvents } from '../../domain/all-events.ts'
import type { AnyEventDefinition, EventType } from '../../domain/all-events.ts'
import { EVENT_TEXTS } from '../../domain/event-texts.ts'
import { objectParts } from '../../interfaces/description/json-schema.ts'
import { code, page, table } from './markdown.ts'

/** The members of an event's data, as the table shows them. */
const namesOf = ({ codec, personal }: AnyEventDefinition): string => {
  const { required = {}, optional = {} } = objectParts(codec as t.Mixed) ?? {}
  const shown = (mark: string) => (name: string): string => `${code(name)}${mark}${personal.includes(name) ? ' (sealed)' : ''}`
  return [...Object.keys(required).map(shown('')), ...Object.keys(optional).map(shown('?'))].join(', ')
}

export const eventsPage = (): string =>
  page(
    'Events',
    'Everything that happens is stored as one of these events. You read them with `GET /lives/{id}/history`, `stenolog replay`, `stenolog export` '
      + 'and `stenolog users export`. [Streams](../streams.md) says what each stream is for.',
    'Sealed members are encrypted under a key of the session or user. Once that key is destroyed they read `[erased]`. `?` marks members that may be absent.',
    table(
      ['Event', 'Stream', 'Says', 'Members'],
      allEvents.map((definition) => {
        const { stream, meaning } = EVENT_TEXTS[definition.type as EventType]
        return [code(definition.type), code(stream), meaning, namesOf(definition)]
      }),
    ),
  )
