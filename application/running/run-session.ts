import * as E from 'fp-ts/lib/Either.js'
import type { EndCause } from '../../domain/live/events.ts'
import { NO_VOCABULARY } from '../../domain/live/vocabulary.ts'
import type { DailyBudget } from '../budget.ts'
import type { AttachedLive } from '../lives/attached-live.ts'
import type { AdmittedSender } from '../lives/commands/admit-sender.ts'
import type { Ended, EndRequest } from '../lives/ending.ts'
import type { SourcePoint } from '../lives/source-point.ts'
import type { LiveBus } from '../pipeline/signals.ts'
import { type SampleFormat, watchSampleFormat } from '../pipeline/speech/sample-format.ts'
import type { StartPuller } from '../ports/audio-source.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { Timers } from '../ports/timers.ts'
import { createCaptions, type CaptionServices, type CaptionsOptions } from './captions.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import { startLiveSource, type LiveSource } from './live-source.ts'
import { createReceivedSequences } from './received-sequences.ts'
import type { LiveMemory } from './record-finals.ts'
import { recordVocabulary } from './record-vocabulary.ts'
import type { ExpectedSender } from './live-runs.ts'
import type { Answer, SenderSession } from './socket-sessions.ts'
import { step, type Input } from './session-machine.ts'
import { beginSession, type Effect, type Effects, type End, type SessionState, type Timer } from './session-state.ts'

/** The parts of the service that all sessions of a worker share. */
export interface SessionServices extends CaptionServices {
  readonly lifecycle: LiveLifecycle
  readonly startPuller: StartPuller
  readonly bus: LiveBus
  readonly logger: Logger
  readonly environment: Pick<Environment, 'random' | 'monotonic'>
  readonly timers: Timers
  /** Milliseconds for which a session waits for a lost sender (RECONNECT_GRACE). 0: it does not wait. */
  readonly reconnectGrace: number
}

export interface RunSessionOptions extends SessionServices, Pick<CaptionsOptions, 'liveId' | 'writes' | 'dropped'> {
  readonly live: AttachedLive
  /** Where an earlier process stopped. */
  readonly point: SourcePoint
  readonly finals: LiveMemory['finals']
  readonly budget: DailyBudget
  /** Aborts when the service closes. */
  readonly signal: AbortSignal
  /** Receives background work, so a close can wait for it. */
  readonly track: (work: Promise<unknown>) => void
  /** Counts missing audio of the source. */
  readonly lost: (samples: number) => void
  /** Called when the end is stored, unless the log may report another cause. */
  readonly ended: (cause: EndCause) => void
  /** Called when the session has nothing to keep. */
  readonly unused: () => void
}

/** A session that runs in this process. */
export interface RunningSession {
  readonly term: number
  readonly stage: () => SessionState['stage']
  readonly hasSender: () => boolean
  /** Returns the number of samples of the session, including lost samples. */
  readonly receivedSamples: () => number
  /** Returns what the samples of its sender seem to be, if they are not the wanted ones. */
  readonly wrongSamples: () => SampleFormat | null
  /** Pulls the source. Further calls do nothing. */
  readonly pull: () => void
  /** Loads the model and waits for a sender. */
  readonly awaitSender: (expected: ExpectedSender) => void
  /** Makes the admitted sender the sender of the session, which has none. `from`: see LiveSessions. */
  readonly attach: (admitted: AdmittedSender, from: number | null) => SenderSession
  /** Takes no more audio, and transcribes and translates the received audio. `isContinued`: see LivePipeline. */
  readonly finish: (limitMs: number, isContinued?: boolean) => Promise<void>
  /** Finishes, then ends the session. Resolves to null when it belongs to another worker. */
  readonly end: (request: EndRequest) => Promise<Ended | null>
  /** Call this when the end of the session is known. Nothing is published afterwards. */
  readonly settle: () => void
}

/** Runs a session: gives its inputs to the state machine one by one, and does what the machine says. */
export const runSession = (options: RunSessionOptions): RunningSession => {
  const { liveId, live, point, lifecycle, writes, timers, logger, budget } = options
  const { term } = live
  let state = beginSession(live, point.sampleOffset, options.reconnectGrace)
  let isBusy = false
  const waiting: Array<Effect> = []
  const running = new Map<Timer, () => void>()
  const stored = Promise.withResolvers<Ended | null>()
  let source: LiveSource | undefined
  let onDrained: () => void = () => undefined
  let recordSender: AdmittedSender['record'] = async () => E.left({ _tag: 'LiveOver' })

  /** An input that arrives during effects is answered at once, but its effects wait for theirs. */
  const take = (...input: Input): Answer => {
    const { state: next, effects, answer } = step(state, input)
    state = next
    waiting.push(...effects)
    if (isBusy) return answer
    isBusy = true
    try {
      for (let effect = waiting.shift(); effect !== undefined; effect = waiting.shift()) perform(effect)
    } finally {
      isBusy = false
    }
    return answer
  }

  const sequences = createReceivedSequences(point.mediaSequence)
  const captions = createCaptions({
    ...options,
    memory: { finals: options.finals, sequences },
    settings: () => state.config ?? live.config,
    isSettled: () => state.stage === 'over',
    failed: (failure) => {
      logger.error({ liveId, failure: failure._tag, reason: failure.reason }, 'a session failed')
      take('pipelineFailed', failure)
    },
    drained: () => {
      source?.drained()
      onDrained()
    },
  })

  const storeVocabulary = recordVocabulary(options)
  const receivedSamples = (): number => point.sampleOffset + state.received

  /** Judges the samples of the present sender. */
  const watchSamples = () => watchSampleFormat((format) =>
    logger.warn({ liveId, format }, 'the audio of a sender seems not to be 16-bit little-endian PCM'))
  let samplesOfSender = watchSamples()

  /** The interface shows only the process of an auto-started session. */
  const recordSource = (pid: number | null, sampleOffset: number, mediaSequence: number | null): void => {
    void writes.add('source', lifecycle.startSource(liveId, {
      pid: live.autoStart ? pid : null, term, sampleOffset, nextSegment: point.nextSegment, mediaSequence,
    }))
  }

  /** All ends take this way, so of several ends the one that was asked for first counts. */
  const finishThenEnd = async (limitMs: number, end: End): Promise<Answer> => {
    await captions.finish(limitMs, false)
    if (source !== undefined && !captions.hasText()) logger.info({ liveId }, 'no speech was found')
    return take('end', end)
  }

  const effects: Effects = {
    configurePipeline: captions.configure,
    awaitModel: async () => ((await captions.isLoaded()) ? take('modelLoaded') : undefined),
    setVocabulary: (vocabulary, units) => {
      captions.setVocabulary(vocabulary)
      storeVocabulary(vocabulary)
      budget.charge(live.userId, units)
    },
    pushAudio: (samples, lost, skipped) => {
      captions.push(samples, lost, skipped)
      if (!state.facts.isPulled) samplesOfSender.push(samples)
      options.lost(lost)
    },
    appendStart: async () => writes.add('start', () => lifecycle.startLive(liveId, term)),
    appendAttach: async (sender) => {
      const record = recordSender
      await writes.add('attach', async () =>
        E.map((epoch: number) => void take('senderRecorded', sender, epoch))(await record()))
    },
    appendDetach: async (sender) => writes.add('detach', async () =>
      state.recorded?.sender === sender
        ? await lifecycle.detachSender(liveId, { term, epoch: state.recorded.epoch })()
        : E.right(undefined)),
    appendEnd: async (end) => {
      let position: Ended['position'] = null
      const write = lifecycle.endLive(liveId, { term, ...end })
      const isDurable = await writes.add('end', async () => E.map((reached: Ended['position']) => {
        position = reached
      })(await write()))
      take('endStored', position !== null)
      stored.resolve(isDurable ? { position } : null)
    },
    startSource: () => {
      if (live.audioUrl === null) return
      source = startLiveSource({
        ...options,
        monotonic: options.environment.monotonic,
        target: { url: live.audioUrl, mediaSequence: point.mediaSequence, language: live.language },
        backlogSeconds: captions.backlogSeconds,
        // A replacement process continues at the present sample.
        launched: (pid, mediaSequence) => recordSource(pid, receivedSamples(), mediaSequence),
        delivered: (mediaSequence, pid) => {
          // Without this, another worker could not know where to continue before the first final.
          if (sequences.isEmpty()) recordSource(pid, point.sampleOffset, mediaSequence)
          sequences.record(mediaSequence, state.received)
        },
        audio: (samples, lost) => void take('sourceAudio', samples, lost),
        completed: () => void take('sourceEnded', { status: 'finished', reason: 'source_ended' }),
        failed: (cause) => void take('sourceEnded', {
          status: 'error', code: 'source_failed', detail: `The audio source failed: ${cause}`,
        }),
      })
    },
    stopSource: () => {
      if (source !== undefined) options.track(source.stop())
    },
    finish: finishThenEnd,
    startTimer: (timer, ms) => {
      running.get(timer)?.()
      if (!options.signal.aborted) running.set(timer, timers.after(ms, () => void take('timerFired', timer)))
    },
    cancelTimer: (timer) => running.get(timer)?.(),
    publish: (signal) => options.bus.publish(liveId, signal),
    reportEnd: options.ended,
    discard: options.unused,
    stop: () => {
      effects.stopSource()
      for (const cancel of running.values()) cancel()
      captions.stop()
      if (state.end === null) stored.resolve(null)
    },
  }

  const perform = ([name, ...values]: Effect): void => {
    const effect: (...values: ReadonlyArray<never>) => unknown = effects[name]
    effect(...(values as ReadonlyArray<never>))
  }

  const finish = async (limitMs: number, isContinued = false): Promise<void> => {
    take('takeNoMore')
    // Nobody keeps the audio of a URL, so its last words must not wait for another process.
    await captions.finish(limitMs, isContinued && live.audioUrl === null)
  }

  return {
    term,
    stage: () => state.stage,
    hasSender: () => state.sender !== null,
    receivedSamples,
    wrongSamples: () => samplesOfSender.found(),
    pull: () => void take('pull'),
    awaitSender: ({ graceMs, ...end }) => void take('awaitSender', graceMs, end),
    finish,
    end: async ({ cause, origin, limitMs }) => {
      take('takeNoMore')
      const isFirst = (await finishThenEnd(limitMs, { cause, origin })) === 'ok'
      const ended = await stored.promise
      return isFirst ? ended : ended && { position: null }
    },
    settle: () => void take('settle'),
    attach: ({ live: { status }, record, recordAfterMs }, from) => {
      recordSender = record
      samplesOfSender = watchSamples()
      take('senderCame', from, status === 'active', recordAfterMs)
      const sender = state.senders
      return {
        liveId,
        configure: (overrides, vocabulary = NO_VOCABULARY) =>
          take('config', sender, { overrides, vocabulary, isBeyondBudget: budget.waitSeconds(live.userId) > 0 }),
        audio: (samples) => take('audio', sender, samples),
        progress: () => ({ received: receivedSamples(), ...captions.settledSamples() }),
        backlogSeconds: captions.backlogSeconds,
        onDrained: (callback) => { onDrained = callback },
        finish: () => void take('finishMessage', sender),
        closed: (reason) => void take('closed', sender, reason),
        lost: (atLeastMs = 0) => void take('lost', sender, atLeastMs),
        abandoned: (atLeastMs = 0) => void take('abandoned', sender, atLeastMs),
      }
    },
  }
}
