import test from 'ava'
import type { LiveRefusals } from '../../../../domain/live/commands.ts'
import { liveDecider } from '../../../../domain/live/decider.ts'
import type { LiveEvent } from '../../../../domain/live/events.ts'
import { fold } from '../../../../domain/shared/decider.ts'
import {
  aborted, attached, commands, created, deleted, failed, finished, started, type CommandName,
} from './live-samples.ts'

/** The expected result: the types of the events, or the tag of the refusal. */
type Outcome = ReadonlyArray<LiveEvent['type']> | LiveRefusals[keyof LiveRefusals]['_tag']
const afterEnd = {
  attach: 'LiveOver',
  detach: [],
  takeOver: 'LiveOver',
  changeVocabulary: 'LiveOver',
  startSource: 'LiveOver',
  start: 'LiveOver',
  finish: [],
  fail: [],
  expire: [],
} as const
const existing = { create: 'AlreadyCreated', abort: 'AlreadyCreated' } as const
const running = {
  ...existing,
  attach: ['SenderAttached'],
  takeOver: ['LiveTakenOver'],
  changeVocabulary: ['VocabularyChanged'],
  startSource: ['SourceStarted'],
  finish: ['LiveFinished'],
  fail: ['LiveFailed'],
  remove: ['LiveFinished', 'LiveDeleted'],
  expire: ['LiveFinished'],
} as const
interface Stage {
  readonly given: ReadonlyArray<LiveEvent>
  readonly outcomes: Readonly<Record<CommandName, Outcome>>
}
const lifecycle: Readonly<Record<string, Stage>> = {
  unknown: {
    given: [],
    outcomes: {
      create: ['LiveCreated'], abort: ['LiveAborted'], attach: 'LiveUnknown', detach: 'LiveUnknown',
      takeOver: 'LiveUnknown', changeVocabulary: 'LiveUnknown', startSource: 'LiveUnknown', start: 'LiveUnknown',
      finish: 'LiveUnknown', fail: 'LiveUnknown', remove: 'LiveUnknown', expire: 'LiveUnknown',
    },
  },
  pending: { given: [created], outcomes: { ...running, detach: [], start: ['LiveStarted'] } },
  'pending with a sender': {
    given: [created, attached(1)],
    outcomes: { ...running, detach: ['SenderDetached'], start: ['LiveStarted'] },
  },
  active: { given: [created, attached(1), started], outcomes: { ...running, detach: ['SenderDetached'], start: [] } },
  finished: {
    given: [created, attached(1), started, finished],
    outcomes: { ...existing, ...afterEnd, remove: ['LiveDeleted'] },
  },
  error: {
    given: [created, attached(1), started, failed],
    outcomes: { ...existing, ...afterEnd, remove: ['LiveDeleted'] },
  },
  aborted: { given: [aborted], outcomes: { create: 'LiveOver', abort: [], ...afterEnd, remove: [] } },
  deleted: { given: [created, finished, deleted], outcomes: { ...existing, ...afterEnd, remove: [] } },
}

const describeOutcome = (outcome: Outcome): string => (outcome.length === 0 ? 'does nothing' : String(outcome))

for (const [state, { given, outcomes }] of Object.entries(lifecycle))
  for (const [name, outcome] of Object.entries(outcomes))
    test(`${name} on a session that is ${state}: ${describeOutcome(outcome)}`, (t) => {
      const decision = liveDecider.decide(commands[name as CommandName], fold(liveDecider, given))
      t.deepEqual(decision._tag === 'Left' ? decision.left._tag : decision.right.map((event) => event.type), outcome)
    })
