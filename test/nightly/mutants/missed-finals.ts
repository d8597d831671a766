import type { Mutant } from './mutant.ts'

const RESUME = 'test/api/ws/resume.test.ts'
const DROPPED_FINALS = 'test/api/ws/dropped-finals.test.ts'
const TRANSCRIPTS = 'test/unit/application/lives/transcripts.test.ts'
const MISSED_FINALS = 'test/unit/application/sessions/missed-finals.test.ts'
const SHARED_PAGES = 'test/unit/application/lives/shared-pages.test.ts'

/** Earlier text for sockets that connect late or again. */
export const missedFinalsMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/lives/queries/resume-point.ts',
    before: " || (withTranslations && final.segment === segment && final.kind === 'translation')",
    after: '',
    rows: ['D58'], test: RESUME,
  },
  {
    file: 'application/lives/queries/resume-point.ts',
    before: 'afterSegment(firstSegment - 1, false)',
    after: 'afterSegment(firstSegment, false)',
    rows: ['D58'], test: RESUME,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: 'fresh.filter((frame) => !isUnsent(finalKey(frame)))',
    after: 'fresh.filter((frame) => !isUnsent(frame.text))',
    rows: ['D58'], test: RESUME,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: ' && !returned.has(finalKey(frame))',
    after: '',
    rows: ['D58'], test: RESUME,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: 'return [...before, frame]',
    after: 'return [frame]',
    rows: ['a resuming listener gets finals that the store refused from memory, others from'], test: DROPPED_FINALS,
  },
  {
    file: 'application/lives/queries/stored-finals.ts',
    before: 'start = final.revision\n',
    after: 'start = middle + PROBE_EVENTS\n',
    rows: ['many listeners that read the past of a session cost little more than one'], test: TRANSCRIPTS,
  },
  {
    file: 'application/lives/queries/shared-pages.ts',
    before: 'if (running === undefined) return begin',
    after: 'if (running !== null) return begin',
    rows: ['many listeners that read the past of a session cost little more than one'], test: TRANSCRIPTS,
  },
  {
    file: 'application/lives/queries/shared-pages.ts',
    before: 'return E.isLeft(result) || result.right.isFull ? result',
    after: 'return E.isLeft(result) || result.right ? result',
    rows: ['readers that join while a growing page is read share one further read'], test: SHARED_PAGES,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: 'if (!hasAsked && hasGap())',
    after: 'if (liveId < 0)',
    rows: ['finals that memory drops between the last page and the first sent final are read'], test: MISSED_FINALS,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: '[...unsent.values(), ...stored.right]',
    after: 'stored.right',
    rows: ['a final stored before its page was read, then sent and dropped, is not lost'], test: MISSED_FINALS,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: 'stillWanted([...gone, ...sentFinals])',
    after: 'stillWanted(sentFinals)',
    rows: ['finals that memory drops before the listener joins are not lost'], test: MISSED_FINALS,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: ' && !returned.has(newest) && !unsent.has(newest)',
    after: '',
    rows: ['nothing is read twice while memory drops no final that the listener needs'], test: MISSED_FINALS,
  },
  {
    file: 'application/lives/queries/resume-point.ts',
    before: 'let firstSegment = 1',
    after: 'let firstSegment = Number.MAX_SAFE_INTEGER',
    rows: ['a replay of a silent session returns the finals sent since the request'], test: MISSED_FINALS,
  },
  {
    file: 'application/lives/queries/stored-finals.ts',
    before: "        isAtEnd = false\n",
    after: '',
    rows: ['after the last stored final the last page is read again, with the finals stored since then'],
    test: TRANSCRIPTS,
  },
]
