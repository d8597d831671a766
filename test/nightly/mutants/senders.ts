import type { Mutant } from './mutant.ts'

const PROPERTY = 'test/simulation/relay/sender-property.test.ts'
const SENDERS = 'test/unit/relay/senders.test.ts'
const RELAYED_SENDER = 'test/unit/relay/relayed-sender.test.ts'
const WORKER_SENDERS = 'test/unit/relay/worker-senders.test.ts'
const EACH_ONCE = 'each word is stored once and told once'
const SESSION = 'application/sessions/sender-session.ts'
const SERVED = 'interfaces/ws/relay/served-sender.ts'
const FRAMES = 'interfaces/ws/relay/sent-frames.ts'
const RELAYED = 'interfaces/ws/relay/relayed-sender.ts'

/** What keeps a sender's words whole while its live goes from worker to worker. */
export const senderMutants: ReadonlyArray<Mutant> = [
  { file: SESSION, before: 'Math.max(0, received - at)', after: '0', rows: [EACH_ONCE], test: PROPERTY },
  { file: SESSION, before: 'if (at > received) running.skip(at - received)', after: '', rows: [EACH_ONCE], test: PROPERTY },
  { file: FRAMES, before: '...kept.map((entry) => entry.frame), ', after: '', rows: [EACH_ONCE], test: PROPERTY },
  { file: FRAMES, before: 'return doneTo > repeatedTo', after: 'return true', rows: ['answers nothing twice'], test: SENDERS },
  {
    file: FRAMES,
    before: 'if (frame === ASR_STARTED) config.accepted(doneTo)',
    after: '',
    rows: [EACH_ONCE], test: PROPERTY,
  },
  {
    file: FRAMES,
    before: "if (type === 'finish') finish ??= frame",
    after: '',
    rows: ['FINISH that a lost worker may not have carried out'], test: RELAYED_SENDER,
  },
  {
    file: 'application/sessions/relay/unsettled-audio.ts',
    before: 'number <= frame)',
    after: 'number <= frame + 1)',
    rows: [EACH_ONCE], test: PROPERTY,
  },
  {
    file: SERVED,
    before: 'const { stored } = session.progress()',
    after: 'const { told: stored } = session.progress()',
    rows: ['is in no log when its worker goes'], test: SENDERS,
  },
  {
    file: SERVED,
    before: 'session.lost(isBroken ? grace : 0)',
    after: 'session.lost(0)',
    rows: ['its senders are waited for'], test: SENDERS,
  },
  {
    file: RELAYED,
    before: "place === 'ending' || (place === 'held' && !isPausedByWorker)",
    after: '!isPausedByWorker',
    rows: ['while its worker is gone a socket is not read'], test: SENDERS,
  },
  {
    file: RELAYED,
    before: 'if (takesFrames && !frames.isFull()) connection',
    after: "if (takesFrames && (place === 'ending' || !frames.isFull())) connection",
    rows: ['a sender whose live is over is read on'], test: RELAYED_SENDER,
  },
  {
    file: RELAYED,
    before: 'isPausedByWorker = message.on',
    after: 'isPausedByWorker = false',
    rows: ['who sends faster than is heard'], test: SENDERS,
  },
  {
    file: RELAYED,
    before: 'if (isOverfull) frames.dropOldest()',
    after: '',
    rows: ['more unheard audio than is kept'], test: SENDERS,
  },
  {
    file: RELAYED,
    before: "how === 'broken' || frames.isEmpty()",
    after: 'true',
    rows: ['before a clean close'], test: SENDERS,
  },
  {
    file: RELAYED,
    before: "isAdmitted ? endAs(errorEnding('sender_already_connected')) : undefined",
    after: 'isAdmitted ? leave() : undefined',
    rows: ['its socket does not hang'], test: RELAYED_SENDER,
  },
  {
    file: SERVED,
    before: 'if (!hasLeft) cancel = ',
    after: 'cancel = ',
    rows: ['leaves no timer behind'], test: WORKER_SENDERS,
  },
  {
    file: 'interfaces/ws/relay/worker-senders.ts',
    before: "message.kind !== 'gone' || senders.get(message.requestId)?.served === served",
    after: 'served !== null',
    rows: ['a sender that asks in vain and goes takes no place with it'], test: WORKER_SENDERS,
  },
  {
    file: 'interfaces/ws/relay/worker-senders.ts',
    before: 'isClosed || abandoned.has(requestId)',
    after: 'isClosed',
    rows: ['a sender that goes while it is given its place'], test: WORKER_SENDERS,
  },
  {
    file: 'interfaces/ws/relay/worker-senders.ts',
    before: 'before?.served?.lost()',
    after: '',
    rows: ['before the worker has seen the old one break'], test: SENDERS,
  },
  {
    file: 'application/pipeline/policy/policy.ts',
    before: 'phrases.length === 0 ? clock - LOOK_BACK : bufferStart',
    after: 'clock - LOOK_BACK',
    rows: ['no more is settled than the buffer has left behind'], test: 'test/unit/pipeline/settled-samples.test.ts',
  },
  {
    file: 'interfaces/ws/relay/sent-config.ts',
    before: 'settings: isFixed ? settings : sent.right.settings',
    after: 'settings: sent.right.settings',
    rows: ['one frame says what all that were taken said'], test: 'test/api/ws/sent-config.test.ts',
  },
]
