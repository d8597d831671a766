import test, { type ExecutionContext } from 'ava'
import type { EndCause, FinishReason } from '../../../domain/live/events.ts'
import { endingFor, movedOnEndings } from '../../../interfaces/ws/ends.ts'
import { startSockets } from '../../support/worlds/socket-world.ts'

/** The final frame (its text, or the code of an error frame), close code and reason. Null: the socket is closed. */
type FinalFrame = {
  readonly frame: string | { readonly code: string }
  readonly close: number
  readonly reason: string
} | null

const FINISHED: FinalFrame = { frame: '{"status":"finished"}', close: 1000, reason: '' }
const error = (code: string, close: number): FinalFrame => ({ frame: { code }, close, reason: code })

const finished = (reason: FinishReason): EndCause => ({ status: 'finished', reason })
const failed = (code: 'engine_failed' | 'model_load_failed' | 'source_failed'): EndCause => ({
  status: 'error',
  code,
  detail: 'what broke',
})

/** For each cause, the final frame of the sender and of a listener. */
const FINAL_FRAMES: ReadonlyArray<readonly [EndCause, FinalFrame, FinalFrame]> = [
  [finished('finish_message'), FINISHED, FINISHED],
  [finished('finish_route'), FINISHED, FINISHED],
  [finished('source_ended'), FINISHED, FINISHED],
  [finished('sender_closed'), null, FINISHED],
  [finished('audio_too_fast'), error('audio_too_fast', 1008), FINISHED],
  [finished('rate_limited'), error('rate_limited', 1008), FINISHED],
  [finished('bad_frames'), error('invalid_message', 1008), FINISHED],
  [finished('restart'), error('server_restart', 1012), error('server_restart', 1012)],
  [finished('pending_timeout'), FINISHED, FINISHED],
  [finished('max_duration'), FINISHED, FINISHED],
  [finished('idle'), error('session_idle', 4408), FINISHED],
  [finished('owner_disabled'), error('token_revoked', 4401), error('token_revoked', 4401)],
  [finished('deleted'), error('token_revoked', 4401), error('token_revoked', 4401)],
  [failed('engine_failed'), error('engine_failed', 1011), error('engine_failed', 1011)],
  [failed('model_load_failed'), error('model_load_failed', 1011), error('model_load_failed', 1011)],
  [failed('source_failed'), error('source_failed', 1011), error('source_failed', 1011)],
]

const nameOf = (cause: EndCause): string => (cause.status === 'finished' ? cause.reason : cause.code)

/** Asserts that the received frame, close code and reason equal the table. */
const assertEnding = (
  t: ExecutionContext,
  expected: Exclude<FinalFrame, null>,
  received: { readonly frame: string | undefined; readonly close: number; readonly reason: string },
): void => {
  t.deepEqual([received.close, received.reason], [expected.close, expected.reason])
  // RFC 6455 allows 123 bytes for the reason.
  t.true(Buffer.byteLength(received.reason) <= 123)
  if (typeof expected.frame === 'string') t.is(received.frame, expected.frame)
  else t.like(JSON.parse(received.frame ?? ''), { type: 'error', ...expected.frame })
}

for (const [cause, sender, listener] of FINAL_FRAMES) {
  test(`the end cause ${nameOf(cause)} has its documented frame and close code for each role`, (t) => {
    for (const [role, expected] of [['sender', sender], ['listener', listener]] as const) {
      const ending = endingFor(cause, role)
      if (expected === null || ending === null)
        t.true(expected === null && ending === null, 'both have a final frame, or neither')
      else assertEnding(t, expected, ending)
    }
  })

  test(`a session that ends elsewhere by ${nameOf(cause)} closes its open sockets with the final frame`, async (t) => {
    const { lifecycle, configured, listener: listen } = await startSockets(t)
    const live = lifecycle.add()
    const [sending, listening] = [await configured(live), await listen(live)]
    lifecycle.endElsewhere(live.id, cause)
    for (const [expected, socket] of [[sender, sending], [listener, listening]] as const) {
      const { code, reason } = await socket.closed
      if (expected === null) t.is(code, 1006)
      else assertEnding(t, expected, { frame: socket.texts.at(-1), close: code, reason })
    }
  })
}

test('a failed engine and a model that does not load close all sockets with 1011 and the error code', async (t) => {
  const { lifecycle, configured, sender, listener, pipelines } = await startSockets(t, { loads: false })
  const [broken, unloadable] = [lifecycle.add(), lifecycle.add()]
  const unloaded = await sender(unloadable)
  unloaded.send({ type: 'config' })
  await unloaded.frame(({ status }) => status === 'ASR process started')
  pipelines.of(unloadable.id).load({ _tag: 'ModelLoadFailed', model: 'demo-en', reason: 'no such file' })
  t.deepEqual(await unloaded.closed, { code: 1011, reason: 'model_load_failed' })
  t.like(unloaded.frames.at(-1), { type: 'error', code: 'model_load_failed' })

  const listening = await listener(broken)
  const opening = configured(broken)
  await listening.frame(({ type }) => type === 'connection')
  while (pipelines.all.length < 2) await new Promise(setImmediate)
  pipelines.of(broken.id).load()
  const sending = await opening
  pipelines.of(broken.id).fail({ _tag: 'JobFailed', reason: 'it died' })
  for (const socket of [sending, listening]) {
    t.deepEqual(await socket.closed, { code: 1011, reason: 'engine_failed' })
    t.like(socket.frames.at(-1), { type: 'error', code: 'engine_failed' })
  }
  t.is(broken.status, 'error')
})

test('a stopping server closes all sockets with server_restart and 1012 and leaves their sessions open', async (t) => {
  const { lifecycle, configured, listener, sockets } = await startSockets(t)
  const live = lifecycle.add()
  const [sending, listening] = [await configured(live), await listener(live)]
  await sockets.close(1000)
  for (const socket of [sending, listening]) {
    t.deepEqual(await socket.closed, { code: 1012, reason: 'server_restart' })
    t.like(socket.frames.at(-1), { type: 'error', code: 'server_restart' })
  }
  t.is(live.status, 'pending')
  t.deepEqual(sockets.counts(), { sender: 0, listener: 0 })
})

for (const strict of [false, true])
  test(`a stop while another server runs brings clients back within a second, COMPAT_STRICT: ${strict}`, async (t) => {
    const { lifecycle, configured, listener, sockets } =
      await startSockets(t, {}, { strict }, { isServedElsewhere: true })
    const live = lifecycle.add()
    const clients = [await configured(live), await listener(live), await listener(live), await listener(live)]
    await sockets.close(1000)
    for (const socket of clients) t.deepEqual(await socket.closed, { code: 1012, reason: 'server_restart' })
    const waits = clients.map(({ frames }) => frames.at(-1)?.['retry_after'])
    t.deepEqual(waits, strict ? clients.map(() => undefined) : [0, 0.25, 0.5, 0.75])
  })

test('many clients of a stopping server come back over a longer time', (t) => {
  const waits = movedOnEndings(4000).map(({ frame }) => (JSON.parse(frame) as { retry_after: number }).retry_after)
  t.deepEqual([waits[0], waits[800], waits.at(-1)], [0, 1, 5])
})
