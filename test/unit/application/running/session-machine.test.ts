import type { Effect, End } from '../../../../application/running/session-state.ts'
import {
  AUTO_STARTED, COMES, CONFIG, CONFIGURES, GRACE, IS_LOST, NO_RECORD, RADIO, RECORDED, SPEAKING, SPEAKS, WAIT, endAs,
  frameOf, testSteps, toEnd,
} from '../../../support/worlds/session-steps.ts'
import { AUDIO } from '../../../support/worlds/session-world.ts'

const PUSH: Effect = ['pushAudio', AUDIO, 0, 0]
const PROMPT = { prompt: 'a' }
const MODEL_FAILED: End = {
  cause: { status: 'error', code: 'model_load_failed', detail: 'The model could not be loaded: demo-en' }, origin: null,
}

testSteps([
  {
    title: 'a sender that connects is recorded later, so a broken handshake leaves no event',
    given: [], when: COMES, effects: [['cancelTimer', 'wait'], ['startTimer', 'record', 10_000]],
  },
  {
    title: 'the first audio records the sender, then starts the session',
    given: [COMES, CONFIGURES], when: SPEAKS,
    effects: [NO_RECORD, ['appendAttach', 1], ['appendStart'], PUSH], state: { received: AUDIO.length },
  },
  { title: 'further audio is only passed on', given: SPEAKING, when: SPEAKS, effects: [PUSH] },
  {
    title: 'a silent sender is recorded in time, so its session does not count as forgotten',
    given: [COMES], when: ['timerFired', 'record'], effects: [NO_RECORD, ['appendAttach', 1]],
  },
  {
    title: 'a handshake that breaks off leaves nothing', given: [COMES], when: ['abandoned', 1, 0],
    effects: [NO_RECORD, ['discard']],
  },
  {
    title: 'a handshake that breaks off in a started session waits for the next one', session: GRACE,
    given: [['senderCame', null, true, 10_000]], when: ['abandoned', 1, 0], effects: [NO_RECORD, WAIT],
  },
  {
    title: 'a sender that returns but does not complete its handshake is waited for again', session: GRACE,
    given: [...SPEAKING, IS_LOST, COMES], when: ['abandoned', 2, 0], effects: [NO_RECORD, WAIT],
  },
  {
    title: 'after a broken link the session waits at least as long as the link asks', session: GRACE,
    given: RECORDED, when: ['lost', 1, 9000], effects: [['appendDetach', 1], ['startTimer', 'wait', 9000]],
  },
  {
    title: 'without a time to wait, a lost sender ends its session', given: SPEAKING, when: IS_LOST,
    effects: [NO_RECORD, ...toEnd(10_000, endAs('sender_closed'))],
  },
  {
    title: 'if no sender returns in time, the received audio is transcribed before the end', session: GRACE,
    given: [...SPEAKING, IS_LOST], when: ['timerFired', 'wait'], effects: toEnd(10_000, endAs('sender_closed')),
  },
  {
    title: 'no socket owns an auto-started source: its sender leaves without an end', session: AUTO_STARTED,
    given: [['pull'], COMES], when: ['closed', 1, 'sender_closed'], effects: [NO_RECORD],
  },
  {
    title: 'settings that contradict each other are refused, and audio still needs a config frame',
    given: [COMES, ['config', 1, frameOf({ overrides: { min_buffer: 99 } })]], when: SPEAKS, effects: [],
    answer: 'config_required',
  },
  {
    title: 'a sender of a session with an audio URL sends no audio', session: RADIO,
    given: [COMES, CONFIGURES], when: SPEAKS, effects: [], answer: 'audio_not_expected',
  },
  {
    title: 'the config frame starts the source, after the sender is recorded', session: RADIO, given: [COMES],
    when: CONFIGURES,
    effects: [['configurePipeline', CONFIG, {}], ['awaitModel'], NO_RECORD, ['appendAttach', 1], ['startSource']],
  },
  {
    title: 'the config frame of an auto-started session does not record its sender', session: AUTO_STARTED,
    given: [['pull'], COMES], when: CONFIGURES, effects: [['configurePipeline', CONFIG, {}], ['awaitModel']],
  },
  {
    title: 'the config frame with which a sender begins may set the vocabulary beyond the daily budget',
    given: [COMES], when: ['config', 1, frameOf({ vocabulary: PROMPT, isBeyondBudget: true })],
    effects: [
      ['setVocabulary', PROMPT, 1 + 14 / 8192], ['configurePipeline', CONFIG, PROMPT], ['awaitModel'],
    ],
  },
  {
    title: 'settings before the audio do not depend on the daily budget',
    given: [COMES, CONFIGURES], when: ['config', 1, frameOf({ overrides: { vad: false }, isBeyondBudget: true })],
    effects: [['configurePipeline', { ...CONFIG, vad: false }, {}], ['awaitModel']],
  },
  {
    title: 'after the first audio, a config frame that changes settings too does not change the vocabulary',
    given: SPEAKING, when: ['config', 1, frameOf({ overrides: { max_chars: 40 }, vocabulary: PROMPT })], effects: [],
    answer: 'config_too_late',
  },
  {
    title: 'the task of a session cannot change',
    given: [COMES], when: ['config', 1, frameOf({ overrides: { task: 'translate' } })], effects: [], answer: 'invalid',
  },
  {
    title: 'a frame without samples records nobody and starts nothing',
    given: [COMES, CONFIGURES], when: ['audio', 1, new Int16Array(0)], effects: [],
  },
  {
    title: 'a piece of a source without samples starts nothing', session: RADIO,
    given: [['pull']], when: ['sourceAudio', new Int16Array(0), 0], effects: [],
  },
  {
    title: 'samples that a source lost count as received', session: RADIO,
    given: [['pull']], when: ['sourceAudio', AUDIO, 160], effects: [['appendStart'], ['pushAudio', AUDIO, 160, 0]],
    state: { received: AUDIO.length + 160 },
  },
  {
    title: 'a sender of an auto-started session that breaks the rules ends it', session: AUTO_STARTED,
    given: [['pull'], COMES], when: ['closed', 1, 'bad_frames'],
    effects: [NO_RECORD, ...toEnd(10_000, endAs('bad_frames'))],
  },
  {
    title: 'an auto-started session does not wait for a lost sender', session: { ...AUTO_STARTED, ...GRACE },
    given: [['pull'], COMES], when: IS_LOST, effects: [NO_RECORD],
  },
  {
    title: 'an auto-started session does not wait after a broken handshake', session: { ...AUTO_STARTED, ...GRACE },
    given: [['pull'], ['senderCame', null, true, 10_000]], when: ['abandoned', 1, 0], effects: [NO_RECORD],
  },
  {
    title: 'a model that does not load is the cause of the end',
    given: [COMES, CONFIGURES], when: ['pipelineFailed', { _tag: 'ModelLoadFailed', model: 'demo-en', reason: 'no' }],
    effects: [['startTimer', 'report', 2000], ['appendEnd', MODEL_FAILED]],
  },
])
