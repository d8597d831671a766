import * as E from 'fp-ts/lib/Either.js'
import type { EngineSettings } from '../../domain/live/settings.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { SAMPLE_RATE, VAD_FRAME } from '../ports/engine.ts'
import type { JobFailed, ModelLoadFailed, SpeechEngine } from '../ports/engine.ts'
import type { CreatePipeline } from './pipeline.ts'
import type { Lags } from './lags.ts'
import type { Timers } from '../ports/timers.ts'
import { createAudioBuffer } from './speech/audio-buffer.ts'
import { createCallOff } from './call-off.ts'
import { loudRegions } from './speech/loudness.ts'
import { agreementPolicy } from './policy/by-agreement/agreement-policy.ts'
import { attentionPolicy } from './policy/by-attention/attention-policy.ts'
import { limitsOf } from './policy/policy-limits.ts'
import type { Outcome, Pass } from './policy/policy.ts'
import type { Scheduler } from './scheduler.ts'
import { dropPhrase, endOfAudio, foldSpeech, forgetBefore, hearEverything, INITIAL_SEGMENTER } from './speech/speech-segmenter.ts'
import type { Region } from './speech/speech-segmenter.ts'
import { createVoiceDetection } from './speech/voice-detection.ts'

interface Dependencies {
  readonly engine: Pick<SpeechEngine, 'load' | 'detectSpeech' | 'passTime'>
  readonly scheduler: Scheduler
  /** Milliseconds that only ever grow. */
  readonly monotonic: () => number
  readonly timers: Timers
  /** Told how far text is behind audio; absent where nobody asks. */
  readonly lags?: Pick<Lags, 'follow' | 'heard'>
}

/** Frames that one call of the detector judges at most: four seconds. */
const VAD_BATCH = 125
/** Audio kept while nobody speaks: more than the detector looks back. */
const LOOK_BACK = SAMPLE_RATE
/** Part of the time to finish in that passes may take; what is known by then is sent in the rest. */
const PASSES_SHARE = 0.9

/**
 * Pipelines of lives: audio → speech regions → passes of the engine → words → segments, in the order of the audio.
 * The only clock is the number of samples, so that audio may come at any speed.
 */
export const createLivePipeline =
  ({ engine, scheduler, monotonic, timers, lags }: Dependencies): CreatePipeline =>
  ({ liveId, model, language, settings, nextSegment, events }) => {
    const audio = createAudioBuffer()
    let config: EngineSettings = settings
    let windowSeconds: number | null = null
    let limits = limitsOf(config, config.max_buffer)
    let segmenter = INITIAL_SEGMENTER
    let policy = agreementPolicy(nextSegment)
    /** When the audio up to `end` had arrived, for what is not yet consumed. */
    const arrivals: Array<{ readonly end: number; readonly at: number }> = []
    let consumed = 0
    let driving = false
    /** Something came while the drive was looking. */
    let woken = false
    let ended = false
    let hurried = false
    let over = false
    const finished = Promise.withResolvers<void>()
    /** Of the waits for the engine. */
    const waits = createCallOff()
    const judge = createVoiceDetection(engine, timers, waits)
    const lag = (): number => (monotonic() - (arrivals[0]?.at ?? monotonic())) / 1000
    const unfollow = lags?.follow(liveId, lag)

    const stop = (): void => {
      over = true
      unfollow?.()
      scheduler.withdraw(liveId)
      waits.callOff()
      finished.resolve()
      audio.clear()
      arrivals.length = 0
    }

    const fail = (failure: ModelLoadFailed | JobFailed): void => {
      if (over) return
      stop()
      events.failed(failure)
    }

    /** Where unheard speech begins; all audio before it is done with. */
    const unheardFrom = (): number => {
      const { heardEnd } = policy.known(segmenter)
      const next = segmenter.phrases.flatMap(({ regions }) => regions).find(({ end }) => end === null || end > heardEnd)
      return next === undefined ? segmenter.clock : Math.min(segmenter.clock, Math.max(heardEnd, next.start))
    }

    const tidy = (): void => {
      const done = Math.max(consumed, unheardFrom())
      const drained = done > consumed
      consumed = done
      const { neededFrom } = policy.known(segmenter)
      audio.dropBefore(Math.min(segmenter.clock - LOOK_BACK, neededFrom))
      segmenter = forgetBefore(segmenter, neededFrom)
      while ((arrivals[0]?.end ?? Infinity) <= consumed) arrivals.shift()
      if (drained) events.drained()
    }

    /** Frames that were pushed and not yet judged; at the end of the audio the last one is filled up with silence. */
    const nextFrames = (): Int16Array => {
      const samples = audio.end() - segmenter.clock
      const whole = Math.min(VAD_BATCH, Math.floor(samples / VAD_FRAME))
      const isWorthIt = ended || whole === VAD_BATCH || segmenter.clock + whole * VAD_FRAME >= policy.nextLook(segmenter, limits)
      if (whole > 0 && isWorthIt) return audio.slice(segmenter.clock, segmenter.clock + whole * VAD_FRAME)
      const rest = new Int16Array(ended && samples > 0 ? VAD_FRAME : 0)
      if (rest.length > 0) rest.set(audio.slice(segmenter.clock, audio.end()))
      return rest
    }

    /** Judges a batch of frames; false when there was nothing to judge. */
    const detect = async (): Promise<boolean> => {
      if (!config.vad) {
        if (audio.end() > segmenter.clock) segmenter = hearEverything(segmenter, audio.end())
        return false
      }
      const frames = nextFrames()
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
      for (const final of outcome.finals) {
        if (over) return
        await events.final(final)
      }
      if (!over && outcome.partial !== null) events.partial(outcome.partial)
    }

    const transcribe = async (pass: Pass): Promise<void> => {
      const deadline = (arrivals[0]?.at ?? monotonic()) + config.max_delay * 1000
      const samples = audio.slice(pass.from, pass.to)
      const job = { model, language, samples, ...(pass.beginning && { beginning: pass.beginning }) }
      const heard = await waits.orNull(() => scheduler.transcribe(liveId, deadline, job))
      if (heard === null || over) return
      lags?.heard(lag())
      if (E.isLeft(heard)) fail(heard.left)
      else {
        const regions = limits.vad ? spokenUntil(pass.to) : loudRegions(samples, pass.from)
        await emit(policy.hear(regions, pass, heard.right, limits))
      }
    }

    const spokenUntil = (sample: number): ReadonlyArray<Region> =>
      segmenter.phrases.flatMap(({ regions }) => regions).filter(({ start }) => start < sample)
    /** Does what is next to do for the words; false when it waits for more audio. */
    const advance = async (): Promise<boolean> => {
      if (segmenter.phrases.length === 0) return false
      const step = policy.next(segmenter, limits)
      switch (step.kind) {
        case 'wait':
          return false
        case 'pass':
          await transcribe(step.pass)
          return true
        case 'say':
          if (step.endsPhrase) segmenter = dropPhrase(segmenter)
          await emit(step.outcome)
          return true
      }
    }

    const speakOut = async (): Promise<void> => {
      await emit(policy.giveUp(limits))
      stop()
    }

    /** Before each step, for passes take longer while the machine is busy. */
    const renewLimits = (): void => {
      limits = limitsOf(config, windowSeconds ?? config.max_buffer, engine.passTime(model)?.usual)
    }

    const drive = async (): Promise<void> => {
      for (;;) {
        if (over) return
        if (hurried) return await speakOut()
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
      drive().catch((error: unknown) => {
        fail({ _tag: 'JobFailed', reason: messageOf(error) })
      })
    }

    return {
      configure: (next) => {
        if (audio.end() > 0) return
        config = next
        renewLimits()
      },
      expect: () => undefined,
      start: () => async () => {
        const loaded = await engine.load(model)()
        if (E.isLeft(loaded)) {
          stop()
          return loaded
        }
        windowSeconds = loaded.right.windowSeconds
        if (loaded.right.hasWordTimes === true) policy = attentionPolicy(nextSegment)
        renewLimits()
        wake()
        return E.right(undefined)
      },
      push: (samples) => {
        if (over || ended || samples.length === 0) return
        audio.push(samples)
        arrivals.push({ end: audio.end(), at: monotonic() })
        wake()
      },
      backlogSeconds: () => (over ? 0 : (audio.end() - consumed) / SAMPLE_RATE),
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
