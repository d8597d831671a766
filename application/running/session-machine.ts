import type { EndCause, FinishReason } from '../../domain/live/events.ts'
import { buffersAreOrdered, type EngineSettings } from '../../domain/live/settings.ts'
import { isSameVocabulary, type GivenVocabulary } from '../../domain/live/vocabulary.ts'
import { unitsOf } from '../budget.ts'
import type { JobFailed, ModelLoadFailed } from '../ports/engine.ts'
import type { Answer, CloseReason } from './socket-sessions.ts'
import type { Attached, ConfigFrame, Effect, End, Sender, SessionState, Step, Timer } from './session-state.ts'

/** Longest time to transcribe the received audio after a `finish` message or the end of the source. */
const FINISH_LIMIT_MS = 30_000
/** Longest time to transcribe the received audio after a closed connection. */
const CLOSE_LIMIT_MS = 10_000
/** If another process stored an end first, only the log has the true cause. After this time the own one is reported. */
const REPORT_OTHER_END_MS = 1000
/** An end that is not stored within this time is reported anyway, so no sender continues to send unused audio. */
const REPORT_UNSTORED_END_MS = 2000

type Rule = (state: SessionState) => Step

const to = (state: SessionState, changes: Partial<SessionState>, ...effects: ReadonlyArray<Effect>): Step =>
  ({ state: { ...state, ...changes }, effects, answer: 'ok' })

const stay = (state: SessionState, answer: Answer = 'ok'): Step => ({ state, effects: [], answer })

/** Applies rules after a step. The last one answers. */
const then = (first: Step, ...rules: ReadonlyArray<Rule>): Step =>
  rules.reduce((before, rule) => {
    const after = rule(before.state)
    return { ...after, effects: [...before.effects, ...after.effects] }
  }, first)

const isEnding = ({ stage }: SessionState): boolean => stage === 'ending' || stage === 'over'

/** Only the first end counts. */
const end = (state: SessionState, { cause, origin }: End): Step => {
  if (isEnding(state)) return stay(state, 'over')
  const unstored = { stage: 'ending', end: { cause, isStored: false } } as const
  return to(state, unstored, ['startTimer', 'report', REPORT_UNSTORED_END_MS], ['appendEnd', { cause, origin }])
}

/** Ends the session once its received audio is transcribed. */
const finish = (state: SessionState, limitMs: number, end: End): Step =>
  isEnding(state) ? stay(state) : to(state, { stage: 'finishing' }, ['stopSource'], ['finish', limitMs, end])

const finished = (reason: FinishReason): End => ({ cause: { status: 'finished', reason }, origin: null })

const configurePipeline = (state: SessionState, config: EngineSettings): Step =>
  to(state, { config }, ['configurePipeline', config, state.vocabulary], ['awaitModel'])

const openPipeline: Rule = (state) =>
  state.config === null ? configurePipeline(state, state.facts.config) : stay(state)

const startSource: Rule = (state) =>
  state.isPulling || state.stage !== 'open' ? stay(state) : to(state, { isPulling: true }, ['startSource'])

const push = (state: SessionState, samples: Int16Array, lost: number, skipped: number): Step => {
  const received = state.received + lost + skipped + samples.length
  if (received === state.received) return stay(state)
  const pushed = ['pushAudio', samples, lost, skipped] as const
  const effects: ReadonlyArray<Effect> = state.received === 0 ? [['appendStart'], pushed] : [pushed]
  return { state: { ...state, received }, effects, answer: 'ok' }
}

const setVocabulary = (state: SessionState, given: GivenVocabulary): Step => {
  const vocabulary = { ...state.vocabulary, ...given }
  if (isSameVocabulary(vocabulary, state.vocabulary)) return stay(state)
  const units = 1 + unitsOf({ bytes: Buffer.byteLength(JSON.stringify(given)) })
  return to(state, { vocabulary }, ['setVocabulary', vocabulary, units])
}

/** Records the sender in the log, once. */
const record: Rule = (state) => {
  const { sender } = state
  if (sender === null || sender.isRecorded) return stay(state)
  const recorded = { ...sender, isRecorded: true }
  return to(state, { sender: recorded }, ['cancelTimer', 'record'], ['appendAttach', sender.number])
}

/** The sender leaves, and the session ends. */
const finishAs = (state: Attached, reason: FinishReason, limitMs: number): Step => then(
  to(state, { sender: { ...state.sender, hasLeft: true } }, ['cancelTimer', 'record']),
  (left) => finish(left, limitMs, finished(reason)),
)

/** The sender gives up its place. */
const detach = (state: Attached): Step => state.sender.isRecorded
  ? to(state, { sender: null }, ['appendDetach', state.sender.number])
  : to(state, { sender: null }, ['cancelTimer', 'record'])

/** The sender leaves, and the session stays open for the next one. */
const leave = (state: Attached): Step => then(
  detach(state),
  (left) => (left.config === null && left.stage === 'open' ? to(left, {}, ['discard']) : stay(left)),
)

const waitFor = (state: SessionState, ms: number, end: End, limitMs: number | null): Step =>
  to(state, { wait: { end, limitMs } }, ['startTimer', 'wait', ms])

/** The sender leaves, and the session waits for the next one. */
const leaveFor = (state: Attached, ms: number): Step =>
  then(detach(state), (left) => waitFor(left, ms, finished('sender_closed'), CLOSE_LIMIT_MS))

const isEmpty = (members: object): boolean => Object.keys(members).length === 0

const setVocabularyAlone = (state: SessionState, { overrides, vocabulary, isBeyondBudget }: ConfigFrame): Step => {
  if (!isEmpty(overrides) || isEmpty(vocabulary)) return stay(state, 'config_too_late')
  return isBeyondBudget ? stay(state, 'rate_limited') : setVocabulary(state, vocabulary)
}

/** The task cannot change, because the translators were chosen for the language of its text. */
const taskOf = ({ task = 'transcribe' }: EngineSettings): EngineSettings['task'] => task

const configure = (state: Attached, frame: ConfigFrame): Step => {
  const { facts, sender, received } = state
  if (state.stage !== 'open') return stay(state, 'over')
  // The earlier settings stay. The sender gets the same answer as at its first connection.
  if (sender.isReturning && sender.phase !== 'speaking' && received > 0)
    return then(setVocabularyAlone(state, frame), (open) => to(open, {}, ['awaitModel']))
  // An auto-started session may have received audio before its sender.
  if (sender.phase === 'speaking' || (facts.isPulled && received > 0)) return setVocabularyAlone(state, frame)
  const settings = { ...facts.config, ...frame.overrides }
  if (!buffersAreOrdered(settings) || taskOf(settings) !== taskOf(facts.config)) return stay(state, 'invalid')
  // The frame with which a sender begins is not refused.
  if (sender.phase === 'configured' && frame.isBeyondBudget && !isEmpty(frame.vocabulary))
    return stay(state, 'rate_limited')
  return then(
    to(state, { sender: { ...sender, phase: 'configured' } }),
    (open) => setVocabulary(open, frame.vocabulary),
    (open) => configurePipeline(open, settings),
    // The audio of a session with an audio URL begins with the config frame of its sender.
    ...(facts.isPulled ? [facts.isIndependent ? stay : record, startSource] : []),
  )
}

const takeAudio = (state: Attached, samples: Int16Array): Step => {
  const { facts, sender } = state
  const { at, phase } = sender
  if (state.stage !== 'open') return stay(state, 'over')
  if (facts.isPulled) return stay(state, 'audio_not_expected')
  if (phase === 'came') return stay(state, 'config_required')
  if (samples.length === 0) return stay(state)
  if (at === null && phase === 'speaking') return push(state, samples, 0, 0)
  // A returning sender repeats samples, or some are missing.
  const known = at === null ? 0 : facts.earlier + state.received - at
  const rest = samples.subarray(Math.max(0, known))
  return then(
    record({ ...state, sender: { ...sender, phase: 'speaking', at: at === null ? null : at + samples.length } }),
    openPipeline,
    (open) => push(open, rest, 0, Math.max(0, -known)),
  )
}

const isPresent = (state: SessionState, number: number): state is Attached =>
  state.sender?.number === number && !state.sender.hasLeft

/** A rule for what a sender does. It changes nothing after the sender has left. */
const fromSender =
  <Values extends ReadonlyArray<unknown>>(rule: (state: Attached, ...values: Values) => Step) =>
  (state: SessionState, number: number, ...values: Values): Step =>
    isPresent(state, number) ? rule(state, ...values) : stay(state, 'over')

const rules = {
  senderCame: (state: SessionState, from: number | null, isLate: boolean, recordAfterMs: number): Step => {
    const isReturning = state.config !== null && !state.facts.isIndependent
    const number = state.senders + 1
    const phase: Sender['phase'] = isReturning || (from ?? 0) > 0 ? 'resumed' : 'came'
    const sender = { number, at: from, isLate, isReturning, phase, isRecorded: false, hasLeft: false }
    const attached = { senders: number, sender, wait: null }
    return to(state, attached, ['cancelTimer', 'wait'], ['startTimer', 'record', recordAfterMs])
  },
  senderRecorded: (state: SessionState, sender: number, epoch: number): Step =>
    to(state, { recorded: { sender, epoch } }),
  config: fromSender(configure),
  audio: fromSender(takeAudio),
  finishMessage: fromSender((state) => finishAs(state, 'finish_message', FINISH_LIMIT_MS)),
  closed: fromSender((state, reason: CloseReason) => reason === 'sender_closed' && state.facts.isIndependent
    ? leave(state)
    : finishAs(state, reason, CLOSE_LIMIT_MS)),
  /** The socket broke without a close frame. */
  lost: fromSender((state, atLeastMs: number) => {
    const ms = Math.max(state.facts.grace, atLeastMs)
    if (state.facts.isIndependent || state.stage === 'over') return leave(state)
    return ms === 0 ? finishAs(state, 'sender_closed', CLOSE_LIMIT_MS) : leaveFor(state, ms)
  }),
  /** The handshake did not complete. */
  abandoned: fromSender((state, atLeastMs: number) => {
    const { facts: { grace, isIndependent }, sender: { isReturning, isLate }, stage } = state
    const ms = Math.max(grace, atLeastMs)
    // A started session must not stay open without a waiting time for its sender.
    const mustWait = ms > 0 && stage !== 'over' && (isReturning || (isLate && !isIndependent))
    return mustWait ? leaveFor(state, ms) : leave(state)
  }),
  /** The earlier worker of the session had a sender, which may return. */
  awaitSender: (state: SessionState, ms: number, end: End): Step =>
    then(openPipeline(state), (open) => waitFor(open, ms, end, null)),
  pull: (state: SessionState): Step => then(openPipeline(state), startSource),
  sourceAudio: (state: SessionState, samples: Int16Array, lost: number): Step =>
    state.stage === 'open' ? push(state, samples, lost, 0) : stay(state, 'over'),
  sourceEnded: (state: SessionState, cause: EndCause): Step => finish(state, FINISH_LIMIT_MS, { cause, origin: null }),
  modelLoaded: (state: SessionState): Step =>
    state.stage === 'over' ? stay(state) : to(state, {}, ['publish', { kind: 'started' }]),
  pipelineFailed: (state: SessionState, { _tag }: ModelLoadFailed | JobFailed): Step => {
    const [code, detail] = _tag === 'ModelLoadFailed'
      ? ['model_load_failed', `The model could not be loaded: ${state.facts.model}`] as const
      : ['engine_failed', 'The transcription engine failed'] as const
    return end(state, { cause: { status: 'error', code, detail }, origin: null })
  },
  timerFired: (state: SessionState, timer: Timer): Step => {
    const { wait, end: unreported } = state
    if (timer === 'record') return record(state)
    if (timer === 'wait' && wait !== null) {
      const tired = { ...state, wait: null }
      return wait.limitMs === null ? end(tired, wait.end) : finish(tired, wait.limitMs, wait.end)
    }
    if (timer !== 'report' || unreported === null) return stay(state)
    const { cause, isStored } = unreported
    return to(state, {}, isStored ? ['reportEnd', cause] : ['publish', { kind: 'ended', cause }])
  },
  /** The received audio is transcribed, for a move or an end. */
  takeNoMore: (state: SessionState): Step =>
    to(state, { stage: state.stage === 'open' ? 'finishing' : state.stage }, ['stopSource']),
  end,
  /** `isFirst`: no other process has ended the session before, so the cause is known. */
  endStored: (state: SessionState, isFirst: boolean): Step => {
    if (state.stage === 'over' || state.end === null) return stay(state)
    const end = { ...state.end, isStored: true }
    return to(state, { end }, isFirst ? ['reportEnd', end.cause] : ['startTimer', 'report', REPORT_OTHER_END_MS])
  },
  /** The end is known, another worker runs the session, or the service closes. */
  settle: (state: SessionState): Step =>
    state.stage === 'over' ? stay(state) : to(state, { stage: 'over' }, ['stop']),
}

type Rules = typeof rules
type ValuesOf<Rule> = Rule extends (state: SessionState, ...values: infer Values) => Step ? Values : never

/** The name of a rule, and its values. */
export type Input = { [Name in keyof Rules]: readonly [Name, ...ValuesOf<Rules[Name]>] }[keyof Rules]

/** Returns the next state of a session, what has to be done, and the answer to a sender. */
export const step = (state: SessionState, [name, ...values]: Input): Step => {
  const rule: (state: SessionState, ...values: ReadonlyArray<never>) => Step = rules[name]
  return rule(state, ...(values as ReadonlyArray<never>))
}
