import type { Input } from '../../../../application/running/session-machine.ts'
import type { Effect, End } from '../../../../application/running/session-state.ts'
import {
  AUTO_STARTED, COMES, CONFIG, CONFIGURES, GRACE, IS_LOST, NO_RECORD, RADIO, RECORDED, SPEAKING, SPEAKS, WAIT, endAs,
  frameOf, testSteps, toEnd,
} from '../../../support/worlds/session-steps.ts'
import { AUDIO } from '../../../support/worlds/session-world.ts'

const ENGINE_FAILED: End =
  { cause: { status: 'error', code: 'engine_failed', detail: 'The transcription engine failed' }, origin: null }
const FINISHES: Input = ['finishMessage', 1]
const appending = (end: End): ReadonlyArray<Effect> => [['startTimer', 'report', 2000], ['appendEnd', end]]

/** Every race that a defect of the past named. */
testSteps([
  {
    title: 'a sender that sent FINISH keeps its place, so its return over another link finds a session that ends',
    given: [...SPEAKING, FINISHES], when: IS_LOST, effects: [], answer: 'over',
    state: { stage: 'finishing', sender: { number: 1, hasLeft: true } },
  },
  {
    title: 'a repeated FINISH, or a close after it, does nothing',
    given: [...SPEAKING, FINISHES], when: ['closed', 1, 'sender_closed'], effects: [], answer: 'over',
  },
  {
    title: 'a FINISH that arrives after its sender was lost does not end the wait for its return', session: GRACE,
    given: [...SPEAKING, IS_LOST], when: FINISHES, effects: [], answer: 'over', state: { stage: 'open' },
  },
  {
    title: 'a late frame of an earlier sender is not taken for one of the present sender', session: GRACE,
    given: [...SPEAKING, IS_LOST, COMES, ['config', 2, frameOf()]], when: SPEAKS, effects: [], answer: 'over',
  },
  {
    title: 'a late close of an earlier sender does not end the session of the present sender', session: GRACE,
    given: [...SPEAKING, IS_LOST, COMES], when: ['closed', 1, 'bad_frames'], effects: [], answer: 'over',
    state: { stage: 'open' },
  },
  {
    title: 'a sender that comes while its session waits ends the wait', session: GRACE,
    given: [...SPEAKING, IS_LOST], when: COMES, effects: [['cancelTimer', 'wait'], ['startTimer', 'record', 10_000]],
    state: { wait: null },
  },
  {
    title: 'a sender that leaves before the log has recorded it is recorded as gone after that', session: GRACE,
    given: SPEAKING, when: IS_LOST, effects: [['appendDetach', 1], WAIT], state: { sender: null },
  },
  {
    title: 'the config frame of a returning sender keeps the settings of the audio before', session: GRACE,
    given: [...SPEAKING, IS_LOST, COMES], when: ['config', 2, frameOf({ overrides: { max_chars: 1 } })],
    effects: [['awaitModel']], state: { config: CONFIG },
  },
  {
    title: 'a returning sender needs no config frame, and a later one comes too late', session: GRACE,
    given: [...SPEAKING, IS_LOST, COMES, ['audio', 2, AUDIO]], when: ['config', 2, frameOf()], effects: [],
    answer: 'config_too_late',
  },
  {
    title: 'a config frame after the first audio comes too late',
    given: SPEAKING, when: CONFIGURES, effects: [], answer: 'config_too_late',
  },
  {
    title: 'a config frame after the first audio of an auto-started source comes too late', session: AUTO_STARTED,
    given: [['pull'], ['sourceAudio', AUDIO, 0], COMES], when: CONFIGURES, effects: [], answer: 'config_too_late',
  },
  {
    title: 'repeated config frames before the audio do not evade the daily budget',
    given: [COMES, CONFIGURES], when: ['config', 1, frameOf({ vocabulary: { prompt: 'a' }, isBeyondBudget: true })],
    effects: [], answer: 'rate_limited',
  },
  {
    title: 'a change of the vocabulary after the first audio depends on the daily budget',
    given: SPEAKING, when: ['config', 1, frameOf({ vocabulary: { prompt: 'a' }, isBeyondBudget: true })], effects: [],
    answer: 'rate_limited',
  },
  {
    title: 'audio that a returning sender repeats is skipped', session: { earlier: 4000 },
    given: [['senderCame', 3200, true, 10_000]], when: SPEAKS,
    effects: [
      NO_RECORD, ['appendAttach', 1], ['configurePipeline', CONFIG, {}], ['awaitModel'], ['appendStart'],
      ['pushAudio', AUDIO.subarray(800), 0, 0],
    ],
  },
  {
    title: 'audio after the part that a returning sender repeats is passed on', session: { earlier: 4000 },
    given: [['senderCame', 3200, true, 10_000], SPEAKS], when: SPEAKS, effects: [['pushAudio', AUDIO, 0, 0]],
  },
  {
    title: 'audio that a returning sender lacks is a gap', session: { earlier: 4000 },
    given: [['senderCame', 4800, true, 10_000], CONFIGURES], when: SPEAKS,
    effects: [NO_RECORD, ['appendAttach', 1], ['appendStart'], ['pushAudio', AUDIO, 0, 800]],
    state: { received: 800 + AUDIO.length },
  },
  {
    title: 'audio after the end is not taken', given: [...SPEAKING, ['end', endAs('finish_route')]], when: SPEAKS,
    effects: [], answer: 'over',
  },
  {
    title: 'a config frame after the end is not taken', given: [COMES, ['end', endAs('finish_route')]],
    when: CONFIGURES, effects: [], answer: 'over',
  },
  {
    title: 'audio while a route finishes the session is not taken', given: [...SPEAKING, ['takeNoMore']], when: SPEAKS,
    effects: [], answer: 'over',
  },
  {
    title: 'a source that delivers audio after a failure of the engine fills no pipeline', session: AUTO_STARTED,
    given: [['pull'], ['pipelineFailed', { _tag: 'JobFailed', reason: 'it died' }]],
    when: ['sourceAudio', AUDIO, 0], effects: [], answer: 'over',
  },
  {
    title: 'a source that ends while the session is finished by a message adds a second finish', session: AUTO_STARTED,
    given: [['pull'], COMES, FINISHES], when: ['sourceEnded', endAs('source_ended').cause],
    effects: toEnd(30_000, endAs('source_ended')),
  },
  {
    title: 'of two ends with different causes the first counts',
    given: [...SPEAKING, ['end', endAs('finish_message')]], when: ['end', endAs('finish_route')], effects: [],
    answer: 'over', state: { stage: 'ending', end: { cause: endAs('finish_message').cause, isStored: false } },
  },
  {
    title: 'an engine that fails while the session finishes is the cause of the end',
    given: [...SPEAKING, FINISHES], when: ['pipelineFailed', { _tag: 'JobFailed', reason: 'it died' }],
    effects: appending(ENGINE_FAILED),
  },
  {
    title: 'a sender that closes after the engine failed changes nothing',
    given: [...SPEAKING, ['pipelineFailed', { _tag: 'JobFailed', reason: 'it died' }]],
    when: ['closed', 1, 'sender_closed'], effects: [NO_RECORD], state: { stage: 'ending' },
  },
  {
    title: 'an end that becomes known while it is appended stops the session',
    given: [...SPEAKING, ['end', endAs('finish_message')]], when: ['settle'], effects: [['stop']],
    state: { stage: 'over' },
  },
  {
    title: 'an end that is stored after it became known is not reported again',
    given: [...SPEAKING, ['end', endAs('finish_message')], ['settle']], when: ['endStored', true], effects: [],
  },
  {
    title: 'an end that the store does not take within two seconds is told to the sockets',
    given: [['end', endAs('restart')]], when: ['timerFired', 'report'],
    effects: [['publish', { kind: 'ended', cause: endAs('restart').cause }]], state: { stage: 'ending' },
  },
  {
    title: 'a stored end is reported at once, because the log would report the same',
    given: [['end', endAs('restart')]], when: ['endStored', true], effects: [['reportEnd', endAs('restart').cause]],
  },
  {
    title: 'if another process stored its end first, the log may report the true cause for a second',
    given: [['end', endAs('restart')]], when: ['endStored', false], effects: [['startTimer', 'report', 1000]],
  },
  {
    title: 'if the log does not report the end of another process within a second, the own cause is reported',
    given: [['end', endAs('restart')], ['endStored', false]], when: ['timerFired', 'report'],
    effects: [['reportEnd', endAs('restart').cause]],
  },
  {
    title: 'a session that moves away while it waits for its sender is not ended', session: GRACE,
    given: [...SPEAKING, IS_LOST, ['settle']], when: ['timerFired', 'wait'], effects: [],
    state: { stage: 'over' },
  },
  {
    title: 'a session that moves away while it finishes is not ended',
    given: [...SPEAKING, FINISHES, ['settle']], when: ['end', endAs('finish_message')], effects: [], answer: 'over',
  },
  {
    title: 'a sender that is lost after its session is over is recorded as gone', session: GRACE,
    given: [...RECORDED, ['settle']], when: IS_LOST, effects: [['appendDetach', 1]],
  },
  {
    title: 'a sender without audio that is lost after its session is over leaves nothing',
    given: [COMES, ['settle']], when: IS_LOST, effects: [NO_RECORD],
  },
  {
    title: 'a broken handshake in a session that is over is not waited for', session: GRACE,
    given: [...SPEAKING, IS_LOST, COMES, ['settle']], when: ['abandoned', 2, 0], effects: [NO_RECORD],
  },
  {
    title: 'an end that two sides report stops the session once',
    given: [...SPEAKING, ['settle']], when: ['settle'], effects: [],
  },
  {
    title: 'a model that is loaded after the end is not announced', given: [COMES, CONFIGURES, ['settle']],
    when: ['modelLoaded'], effects: [],
  },
  {
    title: 'a session of a lost worker whose sender does not return ends at once, because it has no audio',
    given: [['awaitSender', 5000, endAs('restart')]], when: ['timerFired', 'wait'],
    effects: appending(endAs('restart')),
  },
  {
    title: 'a sender that returns to the next worker finds the model of its session loading',
    given: [['awaitSender', 5000, endAs('restart')], COMES], when: ['config', 1, frameOf()],
    effects: [['configurePipeline', CONFIG, {}], ['awaitModel']],
  },
  {
    title: 'a source that is pulled already is not started again', session: AUTO_STARTED,
    given: [['pull']], when: ['pull'], effects: [],
  },
  {
    title: 'a session that takes no more audio starts no source', session: RADIO,
    given: [COMES, ['takeNoMore']], when: ['pull'], effects: [['configurePipeline', CONFIG, {}], ['awaitModel']],
  },
])
