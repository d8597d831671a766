import test from 'ava'
import fc from 'fast-check'
import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { createLiveBus } from '../../../application/pipeline/live-bus.ts'
import { createLiveSessions } from '../../../application/running/live-sessions.ts'
import type { Connection } from '../../../interfaces/ws/connection.ts'
import { createHub } from '../../../interfaces/ws/listeners/caption-hub.ts'
import { createSender } from '../../../interfaces/ws/senders/sender-frames.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { createMemoryLifecycle } from '../../support/doubles/memory/lifecycle.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { createScriptedPipelines } from '../../support/doubles/scripted/pipeline.ts'
import { forwardEnds } from '../../support/worlds/session-world.ts'
import { createScriptedPullers } from '../../support/doubles/scripted/puller.ts'
import { promptTranslations } from '../../support/worlds/prompt-translations.ts'

/** One step of a test: a text or binary frame, a wait in milliseconds, a partial text, or a turn of the event loop. */
type Step =
  | { readonly text: string }
  | { readonly bytes: Uint8Array }
  | { readonly wait: number }
  | { readonly partial: string }
  | { readonly yields: true }

const json = (value: unknown): Step => ({ text: JSON.stringify(value) })

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(json({ type: 'config' }), json({ type: 'config', min_buffer: 2, max_chars: 30 })),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('config'), max_buffer: fc.anything(), vad: fc.anything() }).map(json),
  },
  { weight: 6, arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => ({ bytes })) },
  {
    weight: 3,
    arbitrary: fc.oneof(fc.base64String({ maxLength: 40 }), fc.string()).map((data) => json({ type: 'audio', data })),
  },
  { weight: 2, arbitrary: fc.constant(json({ type: 'ping' })) },
  { weight: 1, arbitrary: fc.constantFrom(json({ type: 'FINISH' }), json({ type: '__FINISH__' })) },
  { weight: 3, arbitrary: fc.oneof(fc.string(), fc.json()).map((text) => ({ text })) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 3000 }).map((wait) => ({ wait })) },
  { weight: 2, arbitrary: fc.string({ maxLength: 8 }).map((partial) => ({ partial })) },
  { weight: 3, arbitrary: fc.constant<Step>({ yields: true }) },
)

const ERROR_CODES = [
  'invalid_message', 'invalid_config', 'invalid_audio', 'config_required', 'config_too_late', 'rate_limited',
]

/** The frames that a sender may get when all errors are caused by its client. */
const ALLOWED: ReadonlyArray<RegExp> = [
  /^\{"status":"(ASR process started|started|finished)"\}$/,
  /^\{"type":"pong"\}$/,
  new RegExp(`^\\{"type":"error","code":"(?:${ERROR_CODES.join('|')})","detail":"[^"]+"\\}$`),
  new RegExp(
    '^\\{"type":"transcription","start":[\\d.]+,"end":[\\d.]+,"text":".*","language":"en",' +
      '"segment":\\d+,"final":(?:true|false)\\}$',
  ),
]
const AFTER_FINISH = /^\{"(status":"(started|finished)"|type":"(pong|transcription)")/
const BAD_FRAME = /"code":"invalid_(message|config|audio)"/

const isFinish = (step: Step): boolean => 'text' in step && /^\{"type":"(__)?FINISH(__)?"\}$/.test(step.text)

/** Plays the steps to the sender of a new session, then closes its socket. */
const play = async (steps: ReadonlyArray<Step>) => {
  const lifecycle = createMemoryLifecycle()
  const pipelines = createScriptedPipelines()
  const logger = createRecordingLogger()
  const timers = createManualTimers()
  const bus = createLiveBus({ logger })
  const environment = { random: () => 0, monotonic: timers.monotonic }
  const translations = promptTranslations()
  const { create: createPipeline } = pipelines
  const startPuller = createScriptedPullers().start
  const sessions = createLiveSessions({
    lifecycle,
    createPipeline,
    startPuller,
    translations,
    bus,
    logger,
    environment,
    timers,
    reconnectGrace: 0,
  })
  const stopForwarding = forwardEnds(lifecycle, sessions)
  const live = lifecycle.add()
  const sent: string[] = []
  const afterFinish: string[] = []
  let close: number | null = null
  let finished = false
  let paused = false
  const record = (frame: string): void => {
    assert.equal(close, null, `a frame after the close: ${frame}`)
    sent.push(frame)
    if (finished) afterFinish.push(frame)
  }
  const connection: Connection = {
    send: (frame) => {
      if (close === null) record(frame)
    },
    broadcast: ({ text }) => {
      if (close === null) record(text)
    },
    end: (ending) => {
      if (close !== null) return
      record(ending.frame)
      close = ending.close
    },
    drop: () => assert.fail('the socket is dropped'),
    pause: () => {
      paused = true
    },
    resume: () => {
      paused = false
    },
    isPaused: () => paused,
    buffered: () => 0,
  }
  const hub = createHub({ bus, strict: false })
  const attached = await sessions.attachSender(live.id)
  if (E.isLeft(attached)) return assert.fail(attached.left._tag)
  const sender = createSender(attached.right, { connection, environment, timers, rateLimits: true, idleTimeout: 0 })
  const member = { role: 'sender', connection } as const
  hub.join(live.id, member)
  for (const step of steps) {
    if ('text' in step) {
      const wasOpen = close === null
      sender.text(step.text)
      finished ||= wasOpen && isFinish(step)
    } else if ('bytes' in step) sender.binary(step.bytes)
    else if ('wait' in step) timers.advance(step.wait)
    else if ('partial' in step) pipelines.all[0]?.partial(1, step.partial)
    else await new Promise(setImmediate)
  }
  if (finished) await eventually(() => assert.notEqual(close, null))
  hub.leave(live.id, member)
  sender.closed(true)
  await eventually(() => assert.equal(sessions.count(), 0))
  await stopForwarding()
  await sessions.close()
  return { live, sent, afterFinish, close: close as number | null, logger, hub, timers }
}

test(
  'any client input is answered only with documented frames, and the session finishes without an error',
  async (t) => {
    t.timeout(120_000)
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
        const { live, sent, afterFinish, close, logger, hub, timers } = await play(steps)
        for (const frame of sent)
          assert.ok(ALLOWED.some((pattern) => pattern.test(frame)), frame)
        for (const frame of afterFinish) assert.match(frame, AFTER_FINISH, 'only final frames after FINISH')
        assert.equal(live.status, 'finished')
        assert.deepEqual(logger.lines, [])
        assert.equal(hub.size(), 0)
        assert.ok(timers.size() === 0, 'a timer is left')
        const bad = sent.filter((frame) => BAD_FRAME.test(frame)).length
        assert.ok(bad <= 11)
        assert.equal(bad === 11, live.cause?.status === 'finished' && live.cause.reason === 'bad_frames')
        if (close === 1000) assert.equal(sent.at(-1), '{"status":"finished"}')
      }),
      { numRuns: 300 },
    )
    t.pass()
  },
)
