import type * as t from 'io-ts'
import { type AnyEventDefinition, definitionOf } from '../../domain/all-events.ts'
import { EVENT_TEXTS } from '../../domain/event-texts.ts'
import { objectParts } from '../../interfaces/description/json-schema.ts'
import { code, page, table } from './markdown.ts'

/** Lists the members of an event's data for the table. */
const namesOf = ({ codec, personal }: AnyEventDefinition): string => {
  const { required = {}, optional = {} } = objectParts(codec as t.Mixed) ?? {}
  const shown = (mark: string) =>
    (name: string): string => `${code(name)}${mark}${personal.includes(name) ? ' (sealed)' : ''}`
  return [...Object.keys(required).map(shown('')), ...Object.keys(optional).map(shown('?'))].join(', ')
}

export const eventsPage = (): string =>
  page(
    'Events',
    'The service stores every change as one of these events. Read them with `GET /lives/{id}/history`, `stenolog '
      + 'replay`, `stenolog export` and `stenolog users export`. [Streams](../streams.md) explains the purpose of '
      + 'each stream.',
    'A *live* is a session. A *worker* is a process that transcribes sessions. A *term* is the number of a worker of a '
      + 'session; each later worker of the session has a higher term.',
    'Sealed members are encrypted with a key of the session or user. After this key is destroyed, sealed members read '
      + '`[erased]`. `?` marks optional members.',
    table(
      ['Event', 'Stream', 'Meaning', 'Members'],
      Object.entries(EVENT_TEXTS).flatMap(([type, { stream, meaning }]) => {
        const definition = definitionOf(type)
        return definition === undefined ? [] : [[code(type), code(stream), meaning, namesOf(definition)]]
      }),
    ),
  )
