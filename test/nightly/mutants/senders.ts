import type { Mutant } from './mutant.ts'

const PROPERTY = 'test/simulation/relay/sender-property.test.ts'
const SENDERS = 'test/unit/relay/senders.test.ts'
const RELAYED_SENDER = 'test/unit/relay/relayed-sender.test.ts'
const WORKER_SENDERS = 'test/unit/relay/worker-senders.test.ts'
const EACH_ONCE = 'each word is stored once and sent once'
const SESSION = 'application/sessions/session-machine.ts'
const SERVED = 'interfaces/ws/relay/served-sender.ts'
const FRAMES = 'interfaces/ws/relay/sent-frames.ts'
const RELAYED = 'interfaces/ws/relay/relayed-sender.ts'

/** The audio of a sender stays complete while its session moves between workers. */
export const senderMutants: ReadonlyArray<Mutant> = [
  {
    file: SESSION,
    before: 'samples.subarray(Math.max(0, known))',
    after: 'samples',
    rows: [EACH_ONCE],
    test: PROPERTY,
  },
  {
    file: SESSION,
    before: 'push(open, rest, 0, Math.max(0, -known))',
    after: 'push(open, rest, 0, 0)',
    rows: [EACH_ONCE],
    test: PROPERTY,
  },
  { file: FRAMES, before: '...kept.map((entry) => entry.frame), ', after: '', rows: [EACH_ONCE], test: PROPERTY },
  {
    file: FRAMES,
    before: 'return doneTo > repeatedTo',
    after: 'return true',
    rows: ['during a takeover the socket is not read, and the next worker repeats no answer'],
    test: SENDERS,
  },
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
    rows: ['a FINISH that a lost worker may not have handled is sent to the next worker, once'], test: RELAYED_SENDER,
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
    after: 'const { sent: stored } = session.progress()',
    rows: ['a sent final that is not in the log when its worker dies is sent again by the next worker'], test: SENDERS,
  },
  {
    file: SERVED,
    before: 'session.lost(isBroken ? grace : 0)',
    after: 'session.lost(0)',
    rows: ['after the death of a process with sockets, its senders may return on any process'], test: SENDERS,
  },
  {
    file: RELAYED,
    before: "place === 'ending' || (place === 'held' && !isPausedByWorker)",
    after: '!isPausedByWorker',
    rows: ['during a takeover the socket is not read, and the next worker repeats no answer'], test: SENDERS,
  },
  {
    file: RELAYED,
    before: 'if (takesFrames && !frames.isFull()) connection',
    after: "if (takesFrames && (place === 'ending' || !frames.isFull())) connection",
    rows: ['after the end of a session the socket of its sender is still read, up to the buffer limit'],
    test: RELAYED_SENDER,
  },
  {
    file: RELAYED,
    before: 'isPausedByWorker = message.on',
    after: 'isPausedByWorker = false',
    rows: ['the socket of a too fast sender is not read, and closes after a minute without progress'], test: SENDERS,
  },
  {
    file: RELAYED,
    before: 'if (isDropping) frames.dropOldest()',
    after: '',
    rows: ['with a full buffer the socket waits 5 seconds for the worker to store text'], test: SENDERS,
  },
  {
    file: RELAYED,
    before: "how === 'broken' || frames.isEmpty()",
    after: 'true',
    rows: ['audio before a clean close is stored even if the worker dies at that moment'], test: SENDERS,
  },
  {
    file: RELAYED,
    before: "isAdmitted ? endAs(errorEnding('sender_already_connected')) : undefined",
    after: 'isAdmitted ? leave() : undefined',
    rows: ['a returning sender is refused when the worker has admitted another sender of the same process'],
    test: RELAYED_SENDER,
  },
  {
    file: SERVED,
    before: 'if (!hasLeft) cancel = ',
    after: 'cancel = ',
    rows: ['a local sender that leaves during a progress message leaves no timer behind'], test: WORKER_SENDERS,
  },
  {
    file: 'interfaces/ws/relay/worker-senders.ts',
    before: "message.kind !== 'gone' || senders.get(message.requestId)?.served === served",
    after: 'served !== null',
    rows: ['when a refused sender leaves, the admitted sender stays connected'], test: WORKER_SENDERS,
  },
  {
    file: 'interfaces/ws/relay/worker-senders.ts',
    before: 'isClosed || abandoned.has(requestId)',
    after: 'isClosed',
    rows: ['a sender that leaves during its admission leaves the session unchanged'], test: WORKER_SENDERS,
  },
  {
    file: 'interfaces/ws/relay/worker-senders.ts',
    before: 'before?.served?.lost()',
    after: '',
    rows: ['a sender returns through a new link before the worker notices that the old link broke'], test: SENDERS,
  },
  {
    file: 'application/pipeline/policy/policy.ts',
    before: 'phrases.length === 0 ? clock - LOOK_BACK_SAMPLES : bufferStart',
    after: 'clock - LOOK_BACK_SAMPLES',
    rows: ['during speech, audio is settled up to the buffer; with an open word, up to the end of the finals'],
    test: 'test/unit/pipeline/settled-samples.test.ts',
  },
  {
    file: 'interfaces/ws/relay/sent-config.ts',
    before: 'settings: isFixed ? settings : sent.right.settings',
    after: 'settings: sent.right.settings',
    rows: ['accepted configs merge into one frame: the last settings before audio and the newest vocabulary'],
    test: 'test/api/ws/sent-config.test.ts',
  },
]
