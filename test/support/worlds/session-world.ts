import assert from 'node:assert/strict'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createDailyBudget } from '../../../application/budget.ts'
import { createLiveBus } from '../../../application/pipeline/live-bus.ts'
import type { LiveSignal } from '../../../application/pipeline/signals.ts'
import type { SenderSession } from '../../../application/running/socket-sessions.ts'
import { createLiveSessions, type RunningSessions } from '../../../application/running/live-sessions.ts'
import { createTranslations } from '../../../application/pipeline/translations.ts'
import { eventually } from '../tools/eventually.ts'
import { createManualTimers } from '../doubles/manual-timers.ts'
import { createMemoryLifecycle, type MemoryLifecycle } from '../doubles/memory/lifecycle.ts'
import { createRecordingLogger } from '../doubles/loggers.ts'
import { createScriptedPipelines, type PipelineScript } from '../doubles/scripted/pipeline.ts'
import { createScriptedPullers } from '../doubles/scripted/puller.ts'
import { createScriptedTranslator } from '../doubles/scripted/translator.ts'

/** 100 ms. */
export const AUDIO = new Int16Array(1600).fill(1)

/** Forwards terminal events to the sessions, as `run-lives.ts` does. Returns a function that stops it. */
export const forwardEnds = (
  lifecycle: Pick<MemoryLifecycle, 'ends'>,
  { runs }: Pick<RunningSessions, 'runs'>,
): (() => Promise<void>) => {
  const stopping = new AbortController()
  const forwarding = (async () => {
    for await (const { liveId, cause } of lifecycle.ends(stopping.signal)) runs.ended(liveId, cause)
  })()
  return async () => {
    stopping.abort()
    await forwarding
  }
}

/** Starts live sessions with a write side in memory, scripted pipelines and a clock that stands still. */
export const startSessions = (
  t: ExecutionContext,
  script: PipelineScript = {},
  translator = createScriptedTranslator({ answers: true }),
  dailyUnits = 0,
) => {
  const lifecycle = createMemoryLifecycle()
  const pipelines = createScriptedPipelines(script)
  const logger = createRecordingLogger()
  const timers = createManualTimers()
  const bus = createLiveBus({ logger })
  const environment = { random: () => 0.5, monotonic: timers.monotonic }
  const translations = createTranslations({ engine: translator, monotonic: timers.monotonic, logger })
  const { create: createPipeline } = pipelines
  const pullers = createScriptedPullers()
  const sessions = createLiveSessions({
    lifecycle, createPipeline, startPuller: pullers.start, translations, bus, logger, environment, timers,
    reconnectGrace: 0, budget: createDailyBudget(environment, dailyUnits),
  })
  const stopForwarding = forwardEnds(lifecycle, sessions)
  t.teardown(async () => {
    await stopForwarding()
    await sessions.close()
  })
  const attach = async (liveId: number): Promise<SenderSession> => {
    const attached = await sessions.attachSender(liveId)
    if (E.isLeft(attached)) throw new Error(attached.left._tag)
    return attached.right
  }
  const listen = (liveId: number): LiveSignal[] => {
    const signals: LiveSignal[] = []
    bus.subscribe(liveId, (signal) => signals.push(signal))
    return signals
  }
  /** Pulls the source, as the worker of an auto-started session does. */
  const pull = (liveId: number): void =>
    sessions.runs.pull(liveId, lifecycle.attached(liveId), lifecycle.pointOf(liveId))
  /** Ends a session, as a REST route does. */
  const finish = (liveId: number, limitMs: number): Promise<unknown> => {
    const origin = { commandId: 'c', correlationId: 'c', actor: 'user:1' }
    const cause = { status: 'finished', reason: 'finish_route' } as const
    const ending = sessions.endByWorker(liveId, { cause, origin, limitMs })
    return ending ?? Promise.reject(new Error(`session ${liveId} does not run`))
  }
  return { lifecycle, pipelines, pullers, logger, timers, sessions, attach, listen, translations, pull, finish }
}

export const URL_LIVE = { audioFormat: 'hls', audioUrl: 'http://radio.example/live', autoStart: true } as const

/** Creates an auto-started session and waits until its first puller runs. */
export const autoStarted = async (t: ExecutionContext, script: PipelineScript = {}) => {
  const world = startSessions(t, script)
  const live = world.lifecycle.add(URL_LIVE)
  world.pull(live.id)
  await eventually(() => assert.deepEqual(live.writes, ['source 1000 at 0 after null']))
  return { ...world, live }
}

export const kindsOf = (signals: ReadonlyArray<LiveSignal>): ReadonlyArray<string> => signals.map(({ kind }) => kind)
