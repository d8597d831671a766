import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { attentionPolicy } from '../../../../../../application/pipeline/policy/by-attention/attention-policy.ts'
import { limitsOf } from '../../../../../../application/pipeline/policy/policy-limits.ts'
import type { Step } from '../../../../../../application/pipeline/policy/policy.ts'
import {
  dropPhrase, foldSpeech, INITIAL_SEGMENTER,
} from '../../../../../../application/pipeline/speech/speech-segmenter.ts'
import { SAMPLE_RATE, VAD_FRAME } from '../../../../../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../../../../domain/live/settings.ts'
import { scriptedAudio } from '../../../../../support/doubles/scripted/script.ts'
import { scriptedEngine } from '../../../../../support/doubles/scripted/engine.ts'

const script = fc
  .array(
    fc.record({
      seconds: fc.double({ min: 0.15, max: 0.9, noNaN: true }),
      pause: fc.oneof(
        { weight: 3, arbitrary: fc.double({ min: 0, max: 0.1, noNaN: true }) },
        { weight: 2, arbitrary: fc.double({ min: 0.2, max: 5, noNaN: true }) },
      ),
      isUnsure: fc.boolean(),
      ending: fc.constantFrom('', '', ',', '.'),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((words) =>
    words.map(({ seconds, pause, isUnsure, ending }, i) => ({
      text: `word${i}${ending}`,
      seconds,
      pause,
      ...(isUnsure && { misheard: `wrong${i}` }),
    })),
  )

const settings = fc.record({
  mode: fc.constantFrom('partial' as const, 'final' as const),
  min_buffer: fc.double({ min: 0.3, max: 3, noNaN: true }),
  max_buffer: fc.double({ min: 3, max: 20, noNaN: true }),
  buffer_timeout: fc.double({ min: 0.3, max: 3, noNaN: true }),
  max_delay: fc.double({ min: 0.5, max: 20, noNaN: true }),
  max_chars: fc.integer({ min: 10, max: 80 }),
})

test('no step is due before the next detection, and the repeated audio stays short', async (t) => {
  const seen = { waits: 0, dues: 0, longest: 0 }
  const run = await fc.check(
    fc.asyncProperty(script, settings, async (words, chosen) => {
      const limits = limitsOf({ ...DEFAULT_ENGINE_SETTINGS, ...chosen }, 30)
      const audio = scriptedAudio(words, 6)
      const engine = scriptedEngine({ words, hasWordTimes: true })
      const policy = attentionPolicy(1)
      let [speech, announced] = [INITIAL_SEGMENTER, 0]
      const perform = async (step: Step): Promise<void> => {
        if (step.kind === 'emit' && step.endsPhrase) speech = dropPhrase(speech)
        if (step.kind !== 'pass') return
        const { pass } = step
        const job = { model: '', language: 'en', samples: audio.slice(pass.from, pass.to), ...pass }
        const hypothesis = await engine.transcribe(job)
        if (E.isLeft(hypothesis)) throw new Error(hypothesis.left._tag)
        policy.applyPass(speech.phrases.flatMap(({ regions }) => regions), pass, hypothesis.right, limits)
      }
      for (let at = 0; at + VAD_FRAME <= audio.length; at += VAD_FRAME) {
        const frame = audio.subarray(at, at + VAD_FRAME)
        speech = foldSpeech(
          speech,
          [frame.filter((sample) => sample !== 0).length * 2 >= VAD_FRAME ? 0.95 : 0.05],
          limits.phraseSilence,
        )
        for (let steps = 0; speech.phrases.length > 0; steps += 1) {
          const step = policy.next(speech, limits)
          if (step.kind === 'wait') break
          if (steps > 50) throw new Error('the policy never waits')
          if (speech.clock < announced)
            throw new Error(`${step.kind} at ${speech.clock}, but the next detection was announced for ${announced}`)
          seen.dues += 1
          await perform(step)
        }
        const { transcribedEnd, neededFrom } = policy.progress(speech)
        const kept = Math.max(transcribedEnd, speech.clock) - neededFrom
        // At most a full buffer is kept, and the silence after it until the policy drops the buffer.
        const limit =
          limits.buffer.longestWithContext +
          Math.max(limits.interval, limits.phraseSilence, 4 * SAMPLE_RATE) +
          SAMPLE_RATE
        if (kept > limit) throw new Error(`${kept / SAMPLE_RATE} s are kept`)
        if (speech.clock < announced) continue
        const detectionAt = policy.nextDetection(speech, limits)
        seen.waits += 1
        seen.longest = Math.max(seen.longest, detectionAt - speech.clock)
        // Detection runs in calls of at least four frames, so an earlier step may wait for the next call.
        announced = detectionAt > speech.clock + 4 * VAD_FRAME ? detectionAt : 0
      }
    }),
    { numRuns: 40 },
  )
  t.is(run.failed ? `${String(run.errorInstance)}\n${fc.defaultReportMessage(run)}` : '', '')
  t.true(seen.waits > 1000 && seen.dues > 100, JSON.stringify(seen))
  t.true(seen.longest >= 8 * VAD_FRAME, 'some detections wait for several frames')
})
