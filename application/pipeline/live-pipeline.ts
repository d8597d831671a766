import * as E from 'fp-ts/lib/Either.js'
import type { EngineSettings } from '../../domain/live/settings.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { SAMPLE_RATE } from '../ports/engine.ts'
import type { Hypothesis, JobFailed, ModelLoadFailed, SpeechEngine, TranscribeJob } from '../ports/engine.ts'
import type { CreatePipeline } from './pipeline.ts'
import type { Lags } from './lags.ts'
import type { LeftOutWords } from './left-out.ts'
import type { Timers } from '../ports/timers.ts'
import { createBacklog } from './backlog.ts'
import { createAudioBuffer } from './speech/audio-buffer.ts'
import { createCallOff } from './call-off.ts'
import { soundingRegions } from './speech/loudness.ts'
import { agreementPolicy } from './policy/by-agreement/agreement-policy.ts'
import { attentionPolicy } from './policy/by-attention/attention-policy.ts'
import { limitsOf } from './policy/policy-limits.ts'
import { LOOK_BACK } from './policy/policy.ts'
import type { Outcome, Pass } from './policy/policy.ts'
import type { Scheduler } from './scheduler.ts'
import { dropPhrase, endOfAudio, foldSpeech, forgetBefore, hearEverything, INITIAL_SEGMENTER, regionsBefore, speechFrom } from './speech/speech-segmenter.ts'
import { spokenLanguage } from './speech/spoken-language.ts'
import { createVoiceDetection, framesToJudge } from './speech/voice-detection.ts'

interface Dependencies {
  readonly engine: Pick<SpeechEngine, 'load' | 'detectSpeech' | 'passTime'>
  readonly scheduler: Scheduler
  /** Milliseconds that only ever grow. */
  readonly monotonic: () => number
  readonly timers: Timers
  /** Told how far text is behind audio; absent where nobody asks. */
  readonly lags?: Pick<Lags, 'follow' | 'heard'>
  readonly leftOut?: Pick<LeftOutWords, 'add'>
  /** Called when the session no longer needs the engine. */
  readonly onStop?: () => void
}

/** Part of the time to finish in that passes may take; what is known by then is sent in the rest. */
const PASSES_SHARE = 0.9

/**
 * Pipelines of lives: audio → speech regions → passes of the engine → words → segments, in the order of the audio.
 * The only clock is the number of samples, so that audio may come at any speed.
 */
export const createLivePipeline =
  ({ engine, scheduler, monotonic, timers, lags, leftOut, onStop }: Dependencies): CreatePipeline =>
  ({ liveId, model, language, task, vocabulary, settings, nextSegment, events }) => {
    const audio = createAudioBuffer()
    let config: EngineSettings = settings
    let windowSeconds: number | null = null
    let limits = limitsOf(config, config.max_buffer)
    let segmenter = INITIAL_SEGMENTER
    let policy = agreementPolicy(nextSegment)
    const spoken = spokenLanguage(language)
    let expected = vocabulary
    const backlog = createBacklog(monotonic)
    /** Something came while the drive was looking. */
    let woken = false
    let settledTo = 0
    let [driving, ended, hurried, over] = [false, false, false, false]
    const finished = Promise.withResolvers<void>()
    const waits = createCallOff()
    const judge = createVoiceDetection(engine, timers, waits)
    const lag = (): number => (monotonic() - backlog.since()) / 1000
    const unfollow = lags?.follow(liveId, lag)

    const stop = (): void => {
      over = true
      for (const leave of [unfollow, onStop]) leave?.()
      scheduler.withdraw(liveId)
      waits.callOff()
      finished.resolve()
      audio.clear()
      backlog.clear()
    }

    const fail = (failure: ModelLoadFailed | JobFailed): void => {
      if (over) return
      stop()
      events.failed(failure)
    }

    const tidy = (): void => {
      const { heardEnd, neededFrom, settled } = policy.known(segmenter)
      settledTo = Math.max(settledTo, settled)
      const drained = backlog.consume(speechFrom(segmenter, heardEnd))
      audio.dropBefore(Math.min(segmenter.clock - LOOK_BACK, neededFrom))
      segmenter = forgetBefore(segmenter, neededFrom)
      if (drained) events.drained()
    }

    /** Judges a batch of frames; false when there was nothing to judge. */
    const detect = async (): Promise<boolean> => {
      if (!config.vad) {
        if (audio.end() > segmenter.clock) segmenter = hearEverything(segmenter, audio.end())
        return false
      }
      const frames = framesToJudge(audio, segmenter.clock, policy.nextLook(segmenter, limits), ended)
      if (frames.length === 0) return false
      const judged = await judge(frames)
      if (judged === null || over) return false
      if (E.isLeft(judged)) {
        fail(judged.left)
        return false
      }
      const next = foldSpeech(segmenter, judged.right, limits.phraseSilence)
      segmenter = { ...next, clock: Math.min(next.clock, audio.end()) }
      return true
    }

    const emit = async (outcome: Outcome): Promise<void> => {
      if (outcome.leftOut) leftOut?.add(outcome.leftOut)
      for (const final of outcome.finals) {
        if (over) return
        await events.final(spoken.told(final))
      }
      if (!over && outcome.partial !== null) events.partial(spoken.told(outcome.partial))
      const last = outcome.finals.at(-1)
      // Where no detector tells, what is final ends a phrase.
      if (!limits.vad && last !== undefined) spoken.endPhrase(Math.round(last.end * SAMPLE_RATE))
    }

    /** Null where nobody waits for the answer any more. */
    const ask = async (job: Omit<TranscribeJob, 'model'>): Promise<Hypothesis | null> => {
      const deadline = backlog.since() + config.max_delay * 1000
      const heard = await waits.orNull(() => scheduler.transcribe(liveId, deadline, { model, ...job }))
      if (heard === null || over) return null
      lags?.heard(lag())
      if (E.isRight(heard)) return heard.right
      fail(heard.left)
      return null
    }

    const transcribe = async (pass: Pass): Promise<void> => {
      const samples = audio.slice(pass.from, pass.to)
      const { beginning, isDraft = false } = pass
      const asked = { ...(task && { task }), ...(expected && { vocabulary: expected }), ...(beginning && { beginning }) }
      const heard = await ask({ language: spoken.code(), samples, isDraft, ...asked })
      if (heard === null) return
      const regions = limits.vad ? regionsBefore(segmenter, pass.to) : soundingRegions(samples, pass.from)
      await emit(policy.hear(regions, pass, heard, limits))
    }

    const findLanguage = async (from: number, to: number): Promise<void> => {
      const heard = await ask({ language: null, samples: audio.slice(from, to) })
      if (heard === null) return
      if (heard.language === undefined) throw new Error('the engine was asked for a language and found none')
      if (spoken.changes(heard.language)) policy.restart(from - limits.buffer.preRoll)
    }

    /** Does what is next to do for the words; false when it waits for more audio. */
    const advance = async (): Promise<boolean> => {
      if (segmenter.phrases.length === 0) return false
      const question = spoken.question(segmenter, policy.known(segmenter).neededFrom, limits.vad ? null : audio)
      if (question !== null) {
        await findLanguage(question.from, Math.min(question.to, question.from + SAMPLE_RATE * (windowSeconds ?? 0)))
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
        case 'say':
          if (step.endsPhrase) {
            segmenter = dropPhrase(segmenter)
            spoken.endPhrase(0)
          }
          await emit(step.outcome)
          return true
      }
    }

    /** Before each step, for passes take longer while the machine is busy. */
    const renewLimits = (): void => {
      limits = limitsOf(config, windowSeconds ?? config.max_buffer, engine.passTime(model)?.usual)
    }

    const drive = async (): Promise<void> => {
      for (;;) {
        if (over) return
        if (hurried) {
          await emit(policy.giveUp(limits))
          return stop()
        }
        woken = false
        renewLimits()
        const more = (await detect()) || (await advance())
        if (over) return
        if (!hurried) tidy()
        if (more || woken || hurried) continue
        if (!ended) break
        if (segmenter.phrases.some(({ closedAt }) => closedAt === null)) segmenter = endOfAudio(segmenter, audio.end())
        else if (segmenter.phrases.length === 0 && segmenter.clock >= audio.end()) stop()
      }
      driving = false
    }

    const wake = (): void => {
      woken = true
      if (driving || over || windowSeconds === null) return
      driving = true
      drive().catch((error: unknown) => fail({ _tag: 'JobFailed', reason: messageOf(error) }))
    }

    return {
      configure: (next) => {
        if (audio.end() === 0) config = next
      },
      expect: (next) => {
        expected = next
      },
      start: () => async () => {
        const loaded = await engine.load(model)()
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
        if (over || ended || samples.length === 0) return
        audio.push(samples)
        backlog.arrived(audio.end())
        wake()
      },
      backlogSeconds: () => (over ? 0 : (audio.end() - backlog.consumed()) / SAMPLE_RATE),
      settledSamples: () => settledTo,
      finish: async (limitMs) => {
        ended = true
        wake()
        const calledOff = [
          timers.after(limitMs * PASSES_SHARE, () => {
            hurried = true
            scheduler.withdraw(liveId)
            waits.callOff()
          }),
          timers.after(limitMs, stop),
        ]
        await finished.promise
        for (const callOff of calledOff) callOff()
      },
      abort: stop,
    }
  }
