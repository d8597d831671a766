import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { exists, liveDecider } from '../../domain/live/decider.ts'
import type { Live, LiveState } from '../../domain/live/decider.ts'
import { liveStream } from '../../domain/live/events.ts'
import type { LiveEvent } from '../../domain/live/events.ts'
import { ERASED } from '../../domain/shared/event.ts'
import { wrapped } from '../../domain/transcript/captions.ts'
import { segmentsStream } from '../../domain/transcript/events.ts'
import type { SegmentFinalised } from '../../domain/transcript/events.ts'
import type { Unavailable } from '../errors.ts'
import { openEvents } from '../event-serialization.ts'
import { loadState } from '../handle-command.ts'
import type { WriteDeps } from '../handle-command.ts'
import type { TranscriptFrame } from '../pipeline/signals.ts'
import type { Revision, StoredEvent } from '../ports/event-store.ts'
import type { LiveLifecycle } from '../services.ts'
import { READABLE_AFTER_END_MS } from './forget-text.ts'
import { searchBackwards } from './resume-point.ts'
import type { ResumePoint } from './resume-point.ts'

type StoredFinalsDeps = Pick<WriteDeps, 'store' | 'keyring' | 'environment'>

/** Read and opened in one go; others get their turn in between. */
const AT_ONCE = 200
/** Looked through for the place to begin: most come back after seconds. */
const LOOKED_AT_ONCE = 50

const placeOf = ({ data }: StoredEvent): Pick<TranscriptFrame, 'kind' | 'segment'> =>
  ({ kind: data['kind'] === 'translation' ? 'translation' : 'transcription', segment: Number(data['segment']) })

/** Finals from the log, as the frames that they were. */
export const createStoredFinals = ({ store, keyring, environment }: StoredFinalsDeps): LiveLifecycle['storedFinals'] => {
  const open = openEvents(keyring)

  /** Who comes back later gets nothing more, whether the live keeps its text or not (R88). */
  const isReadable = ({ status, updatedAt }: Live): boolean =>
    status === 'pending' || status === 'active' || Date.parse(environment.now()) - Date.parse(String(updatedAt)) < READABLE_AFTER_END_MS

  const frameOf = ({ config }: Live['created'], { data }: SegmentFinalised): TranscriptFrame => {
    const { kind, segment, start, end, text, language, maxChars = config.max_chars } = data
    return { kind, segment, final: true, start, end, text: wrapped(text, maxChars), language }
  }

  /** The revision from which on there is what `point` wants. */
  const findStart = async (stream: string, point: ResumePoint) => {
    const search = searchBackwards(point)
    let from: Revision | undefined
    for (;;) {
      const page = await store.read(stream, { direction: 'backwards', limit: LOOKED_AT_ONCE, ...(from === undefined ? {} : { from }) })()
      if (E.isLeft(page)) return page
      const mark = page.right.find((event) => search.found(placeOf(event)))
      const last = page.right.at(-1)
      if (mark !== undefined) return E.right({ start: mark.revision, wanted: search.wanted() })
      if (last === undefined || last.revision === 0 || page.right.length < LOOKED_AT_ONCE) return E.right({ start: last?.revision ?? 0, wanted: search.wanted() })
      from = last.revision - 1
    }
  }

  return (liveId, point) => async () => {
    const loaded = await loadState({ store, keyring })<LiveState, LiveEvent>(liveStream(liveId), liveDecider)()
    if (E.isLeft(loaded)) return loaded
    const { state } = loaded.right
    if (!exists(state) || !isReadable(state)) return E.right({ wanted: () => false, next: async () => E.right(null) })
    const stream = segmentsStream(liveId)
    const found = await findStart(stream, point)
    if (E.isLeft(found)) return found
    const { wanted } = found.right
    let from: Revision | null = found.right.start

    const next = async (): Promise<Either<Unavailable, ReadonlyArray<TranscriptFrame> | null>> => {
      if (from === null) return E.right(null)
      const stored = await store.read(stream, { from, limit: AT_ONCE })()
      if (E.isLeft(stored)) return stored
      const opened = await open(stored.right)()
      if (E.isLeft(opened)) return opened
      const last = stored.right.at(-1)
      from = last === undefined || stored.right.length < AT_ONCE ? null : last.revision + 1
      // The codec of the stream's only event has decoded them.
      const finals = opened.right as ReadonlyArray<SegmentFinalised>
      return E.right(finals.filter(({ data }) => data.text !== ERASED && wanted(data)).map((final) => frameOf(state.created, final)))
    }
    return E.right({ wanted, next })
  }
}
