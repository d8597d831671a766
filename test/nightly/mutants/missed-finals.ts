import type { Mutant } from './mutant.ts'

const RESUME = 'test/api/ws/resume.test.ts'
const DROPPED_FINALS = 'test/api/ws/dropped-finals.test.ts'
const TRANSCRIPTS = 'test/unit/application/lives/transcripts.test.ts'
const MISSED_FINALS = 'test/unit/application/sessions/missed-finals.test.ts'
const SHARED_PAGES = 'test/unit/application/lives/shared-pages.test.ts'

/** What a socket that comes late or back is told of the past. */
export const missedFinalsMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/lives/queries/resume-point.ts',
    before: " || (withTranslations && final.segment === segment && final.kind === 'translation')",
    after: '',
    rows: ['D58'], test: RESUME,
  },
  {
    file: 'application/lives/queries/resume-point.ts',
    before: 'afterSegment(first - 1, false)',
    after: 'afterSegment(first, false)',
    rows: ['D58'], test: RESUME,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: 'fresh.filter((frame) => !isUnsent(finalKey(frame)))',
    after: 'fresh.filter((frame) => !untold(frame.text))',
    rows: ['D58'], test: RESUME,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: ' && !given.has(finalKey(frame))',
    after: '',
    rows: ['D58'], test: RESUME,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: 'return [...before, frame]',
    after: 'return [frame]',
    rows: ['a final that the store refused is told from memory, at its place'], test: DROPPED_FINALS,
  },
  {
    file: 'application/lives/queries/stored-finals.ts',
    before: 'start = spoken.revision\n',
    after: 'start = middle + PROBE_EVENTS\n',
    rows: ['a crowd that wants the past of a live costs little more than one of them'], test: TRANSCRIPTS,
  },
  {
    file: 'application/lives/queries/shared-pages.ts',
    before: 'if (running === undefined) return begin',
    after: 'if (running !== null) return begin',
    rows: ['a crowd that wants the past of a live costs little more than one of them'], test: TRANSCRIPTS,
  },
  {
    file: 'application/lives/queries/shared-pages.ts',
    before: 'return E.isLeft(got) || got.right.isFull ? got',
    after: 'return E.isLeft(got) || got.right ? got',
    rows: ['who asks for a page that can grow while it is read gets what came since that began'], test: SHARED_PAGES,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: 'if (!hasAsked && hasGap())',
    after: 'if (liveId < 0)',
    rows: ['finals that memory lets go of between the last page and the first told'], test: MISSED_FINALS,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: '[...unsent.values(), ...stored.right]',
    after: 'stored.right',
    rows: ['a final that was stored, not yet told when its page was read'], test: MISSED_FINALS,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: 'stillWanted([...gone, ...sentFinals])',
    after: 'stillWanted(sentFinals)',
    rows: ['what memory held when a listener came'], test: MISSED_FINALS,
  },
  {
    file: 'application/sessions/missed-finals.ts',
    before: ' && !given.has(newest) && !unsent.has(newest)',
    after: '',
    rows: ['memory that lets go of nothing unseen has nothing read twice'], test: MISSED_FINALS,
  },
  {
    file: 'application/lives/queries/resume-point.ts',
    before: 'let first = 1',
    after: 'let first = Number.MAX_SAFE_INTEGER',
    rows: ['of a live that has not spoken yet a replay tells what was told'], test: MISSED_FINALS,
  },
  {
    file: 'application/lives/queries/stored-finals.ts',
    before: "        isAtEnd = false\n",
    after: '',
    rows: ['who asks again behind the last stored final gets what was stored since'], test: TRANSCRIPTS,
  },
]
