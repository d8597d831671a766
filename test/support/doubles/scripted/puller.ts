import type { PullEnd, PullerEvents, SourceTarget, StartPuller } from '../../../../application/ports/audio-source.ts'

/** A puller whose events the test triggers. */
export interface ScriptedPuller {
  readonly pid: number
  readonly targets: Array<SourceTarget>
  readonly events: PullerEvents
  paused: boolean
  stopped: boolean
}

export interface ScriptedPullers {
  readonly start: StartPuller
  readonly all: ReadonlyArray<ScriptedPuller>
  readonly latest: () => ScriptedPuller
}

export const PULL_FAILED: PullEnd = { kind: 'failed', code: 'unreachable', retry: true, isPublic: false }

export const createScriptedPullers = (): ScriptedPullers => {
  const all: Array<ScriptedPuller> = []
  return {
    all,
    latest: () => {
      const latest = all.at(-1)
      if (latest === undefined) throw new Error('no puller was started')
      return latest
    },
    start: (events) => {
      const puller: ScriptedPuller = { pid: 1000 + all.length, targets: [], events, paused: false, stopped: false }
      all.push(puller)
      return {
        pid: puller.pid,
        pull: (target) => { puller.targets.push(target) },
        pause: () => { puller.paused = true },
        resume: () => { puller.paused = false },
        stop: async () => { puller.stopped = true },
      }
    },
  }
}
