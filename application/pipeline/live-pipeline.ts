import * as E from 'fp-ts/lib/Either.js'
import type { EngineSettings } from '../../domain/live/settings.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import {
  type Hypothesis, type JobFailed, type ModelLoadFailed, SAMPLE_RATE, type SpeechEngine, type TranscribeJob,
} from '../ports/engine.ts'
import type { CreatePipeline } from './pipeline.ts'
import type { Lags } from './lags.ts'
import type { DiscardCounter } from './discarded-words.ts'
import type { Timers } from '../ports/timers.ts'
import { createBacklog } from './backlog.ts'
import { createAudioBuffer } from './speech/audio-buffer.ts'
import { createCancellation } from './cancellation.ts'
import { soundingRegions } from './speech/loudness.ts'
import { agreementPolicy } from './policy/by-agreement/agreement-policy.ts'
import { attentionPolicy } from './policy/by-attention/attention-policy.ts'
import { limitsOf } from './policy/policy-limits.ts'
import { LOOK_BACK_SAMPLES, type Outcome, type Pass } from './policy/policy.ts'
import type { Scheduler } from './scheduler.ts'
import {
  dropPhrase, endOfAudio, foldSpeech, forgetBefore, INITIAL_SEGMENTER, markAllSpeech, regionsBefore, speechFrom,
} from './speech/speech-segmenter.ts'
import { createSpokenLanguage } from './speech/spoken-language.ts'
import { createVoiceDetection, framesToJudge } from './speech/voice-detection.ts'

interface Dependencies {
  readonly engine: Pick<SpeechEngine, 'load' | 'detectSpeech' | 'passTime'>
  readonly scheduler: Scheduler
  /** Returns monotonic milliseconds. */
  readonly monotonic: () => number
  readonly timers: Timers
  readonly lags?: Pick<Lags, 'follow' | 'recordPass'>
  readonly discardCounter?: Pick<DiscardCounter, 'add'>
  /** Called when the session no longer needs the engine. */
  readonly onStop?: () => void
}

/** Share of the finishing time that is for passes. The rest is for storing and sending the text. */
const PASSES_TIME_SHARE = 0.9

/**
 * Creates the pipeline of a session: audio → speech regions → passes of the engine → words → segments. The only clock
 * is the number of samples, so audio may arrive at any speed.
 */
export const createLivePipeline =
  ({ engine, scheduler, monotonic, timers, lags, discardCounter, onStop }: Dependencies): CreatePipeline =>
  ({ liveId, model, language, task, vocabulary, settings, nextSegment, events }) => {
    const audio = createAudioBuffer()
    let config: EngineSettings = settings
    let windowSeconds: number | null = null
    let limits = limitsOf(config, config.max_buffer)
    let segmenter = INITIAL_SEGMENTER
    let policy = agreementPolicy(nextSegment)
    const spoken = createSpokenLanguage(language)
    let hints = vocabulary
    const backlog = createBacklog(monotonic)
    /** True when new audio or another change arrived while `drive` was working. */
    let isWoken = false
    let settledTo = 0
    let isDriving = false
    /** True when no audio follows. */
    let hasEnded = false
    /** True when the time for passes is over. */
    let isHurried = false
    /** True when no event follows. */
    let isStopped = false
    /** True when another process transcribes the audio after the last final. */
    let isContinued = false
    const finished = Promise.withResolvers<void>()
    const cancellation = createCancellation()
    const judgeFrames = createVoiceDetection(engine, timers, cancellation)
    const lag = (): number => (monotonic() - backlog.since()) / 1000
    const unfollow = lags?.follow(liveId, lag)

    const stop = (): void => {
      isStopped = true
      for (const callback of [unfollow, onStop]) callback?.()
      scheduler.withdraw(liveId)
      cancellation.cancel()
      finished.resolve()
      audio.clear()
      backlog.clear()
    }

    const fail = (failure: ModelLoadFailed | JobFailed): void => {
      if (isStopped) return
      stop()
      events.failed(failure)
    }

    const dropConsumed = (): void => {
      const { transcribedEnd, neededFrom, settled } = policy.progress(segmenter)
      settledTo = Math.max(settledTo, settled)
      const drained = backlog.consume(speechFrom(segmenter, transcribedEnd))
      audio.dropBefore(Math.min(segmenter.clock - LOOK_BACK_SAMPLES, neededFrom))
      segmenter = forgetBefore(segmenter, neededFrom)
      if (drained) events.drained()
    }

    /** Runs the speech detector on a batch of frames. Returns false when there are not enough frames. */
    const detect = async (): Promise<boolean> => {
      if (!config.vad) {
        if (audio.end() > segmenter.clock) segmenter = markAllSpeech(segmenter, audio.end())
        return false
      }
      const frames = framesToJudge(audio, segmenter.clock, policy.nextDetection(segmenter, limits), hasEnded)
      if (frames.length === 0) return false
      const judged = await judgeFrames(frames)
      if (judged === null || isStopped) return false
      if (E.isLeft(judged)) {
        fail(judged.left)
        return false
      }
      const next = foldSpeech(segmenter, judged.right, limits.phraseSilence)
      segmenter = { ...next, clock: Math.min(next.clock, audio.end()) }
      return true
    }

    const emit = async (outcome: Outcome): Promise<void> => {
      if (outcome.discarded) discardCounter?.add(outcome.discarded)
      for (const final of outcome.finals) {
        if (isStopped) return
        await events.final(spoken.withLanguage(final))
      }
      if (!isStopped && outcome.partial !== null) events.partial(spoken.withLanguage(outcome.partial))
      const last = outcome.finals.at(-1)
      // Without a detector, a final ends a phrase.
      if (!limits.vad && last !== undefined) spoken.endPhrase(Math.round(last.end * SAMPLE_RATE))
    }

    /** Runs a job. Returns null when it was cancelled. */
    const runJob = async (job: Omit<TranscribeJob, 'model'>): Promise<Hypothesis | null> => {
      const deadline = backlog.since() + config.max_delay * 1000
      const result = await cancellation.orNull(() => scheduler.transcribe(liveId, deadline, { model, ...job }))
      if (result === null || isStopped) return null
      lags?.recordPass(lag())
      if (E.isRight(result)) return result.right
      fail(result.left)
      return null
    }

    const transcribe = async (pass: Pass): Promise<void> => {
      const samples = audio.slice(pass.from, pass.to)
      const { beginning, isDraft = false } = pass
      const options = { ...(task && { task }), ...(hints && { vocabulary: hints }), ...(beginning && { beginning }) }
      const hypothesis = await runJob({ language: spoken.code(), samples, isDraft, ...options })
      if (hypothesis === null) return
      const regions = limits.vad ? regionsBefore(segmenter, pass.to) : soundingRegions(samples, pass.from)
      await emit(policy.applyPass(regions, pass, hypothesis, limits))
    }

    const detectLanguage = async (from: number, to: number): Promise<void> => {
      const hypothesis = await runJob({ language: null, samples: audio.slice(from, to) })
      if (hypothesis === null) return
      if (hypothesis.language === undefined) throw new Error('the engine returned no language')
      if (spoken.applyAnswer(hypothesis.language)) policy.restart(from - limits.buffer.preRoll)
    }

    /** Runs the next step of the policy. Returns false when the policy waits for more audio. */
    const advance = async (): Promise<boolean> => {
      if (segmenter.phrases.length === 0) return false
      const query = spoken.nextQuery(segmenter, policy.progress(segmenter).neededFrom, limits.vad ? null : audio)
      if (query !== null) {
        await detectLanguage(query.from, Math.min(query.to, query.from + SAMPLE_RATE * (windowSeconds ?? 0)))
        return true
      }
      if (spoken.code() === null) return false
      const step = policy.next(segmenter, limits)
      switch (step.kind) {
        case 'wait':
          return false
        case 'pass':
          await transcribe(step.pass)
          return true
        case 'emit':
          if (step.endsPhrase) {
            segmenter = dropPhrase(segmenter)
            spoken.endPhrase(0)
          }
          await emit(step.outcome)
          return true
      }
    }

    /** Called before each step, because passes take longer on a busy machine. */
    const limitsNow = () => limitsOf(config, windowSeconds ?? config.max_buffer, engine.passTime(model)?.usual)

    const drive = async (): Promise<void> => {
      for (;;) {
        if (isStopped) return
        if (isHurried) {
          await emit(policy.finishNow(limits, isContinued))
          return stop()
        }
        isWoken = false
        limits = limitsNow()
        const hasMore = (await detect()) || (await advance())
        if (isStopped) return
        if (!isHurried) dropConsumed()
        if (hasMore || isWoken || isHurried) continue
        if (!hasEnded) break
        if (segmenter.phrases.some(({ closedAt }) => closedAt === null)) segmenter = endOfAudio(segmenter, audio.end())
        else if (segmenter.phrases.length === 0 && segmenter.clock >= audio.end()) stop()
      }
      isDriving = false
    }

    const wake = (): void => {
      isWoken = true
      if (isDriving || isStopped || windowSeconds === null) return
      isDriving = true
      drive().catch((error: unknown) => fail({ _tag: 'JobFailed', reason: messageOf(error) }))
    }

    return {
      configure: (next) => {
        if (audio.end() === 0) config = next
      },
      setVocabulary: (next) => { hints = next },
      start: async () => {
        const loaded = await engine.load(model)
        if (E.isLeft(loaded)) {
          stop()
          return loaded
        }
        windowSeconds = loaded.right.windowSeconds
        if (loaded.right.hasWordTimes === true) policy = attentionPolicy(nextSegment)
        wake()
        return E.right(undefined)
      },
      push: (samples) => {
        if (isStopped || hasEnded || samples.length === 0) return
        audio.push(samples)
        backlog.arrived(audio.end())
        wake()
      },
      backlogSeconds: () => (isStopped ? 0 : (audio.end() - backlog.consumed()) / SAMPLE_RATE),
      settledSamples: () => settledTo,
      finish: async (limitMs, continues = false) => {
        isContinued = continues && (isContinued || !hasEnded) && policy.knowsWordEnds
        hasEnded = true
        const hurry = (): void => {
          isHurried = true
          scheduler.withdraw(liveId)
          cancellation.cancel()
        }
        if (isContinued) hurry()
        wake()
        const cancelTimers = [timers.after(limitMs * PASSES_TIME_SHARE, hurry), timers.after(limitMs, stop)]
        await finished.promise
        for (const cancel of cancelTimers) cancel()
      },
      abort: stop,
    }
  }
