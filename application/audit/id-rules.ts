import { Admitted, LiveIdsSkipped } from '../../domain/admission/events.ts'
import { LiveCreated } from '../../domain/live/events.ts'
import { LogRestored } from '../../domain/restores/events.ts'
import { IdTaken, sequenceStream } from '../../domain/shared/sequence.ts'
import { UserRegistered } from '../../domain/user/events.ts'
import type { ObservedEvent } from './erasure-rules.ts'
import { subjectOf } from '../../domain/key-subject.ts'

/** Knows which ids were given out. A key of another id would refuse the text of a coming session or user. */
export const createIdRules = () => {
  const last = { session: 0, user: 0 }
  const give = (kind: 'session' | 'user', id: number): void => {
    if (id > last[kind]) last[kind] = id
  }
  const isAhead = (key: string): boolean => {
    const subject = subjectOf(key)
    return subject !== null && subject.id > last[subject.kind]
  }
  /** The number of user ids taken, and what a restore added to them. */
  let taken = 0
  let offset = 0
  const suspects: Array<string> = []

  return {
    observe: ({ stream, revision, type, data }: ObservedEvent): void => {
      if (type === Admitted.type || type === LiveCreated.type) give('session', Number(data['liveId']))
      if (type === LiveIdsSkipped.type) give('session', Number(data['through']))
      if (type === UserRegistered.type) give('user', Number(data['userId']))
      const offsets = data['idOffsets'] as Record<string, unknown> | undefined
      if (type === LogRestored.type) offset = Number(offsets?.['user'])
      if (type === IdTaken.type && stream === sequenceStream('user')) taken = revision + 1
      give('user', taken + offset)
    },
    /** Passes the names of keys on, and remembers those of ids that were not given out yet. */
    watch: async function* (names: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
      for await (const name of names) {
        if (isAhead(name)) suspects.push(name)
        yield name
      }
    },
    /** The remembered names whose ids are still not given out. */
    ahead: (): ReadonlyArray<string> => suspects.filter(isAhead),
  }
}
