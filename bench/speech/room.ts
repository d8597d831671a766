import { readFileSync } from 'node:fs'
import { shareOf } from '../../application/admission/measured-compute.ts'
import type { SpeechEngine } from '../../application/ports/engine.ts'

/** The number of sessions that engines can transcribe in time, by the rule with which the service admits sessions. */
export interface Room {
  /** Usual duration of a pass in seconds, and its CPU seconds; null when unknown. */
  readonly pass_s: number
  readonly busy_s: number | null
  /** Share of a lane that a session takes during speech. A lane runs one pass of a model at a time. */
  readonly share: number
  readonly lanes: number
  readonly sessions: number
}

const rounded = (value: number): number => Number(value.toFixed(3))

/** Returns null when no pass was measured. */
export const roomOf = (
  engines: ReadonlyArray<Pick<SpeechEngine, 'passTime' | 'deviceOf'>>,
  model: string,
): Room | null => {
  const passes = engines.flatMap((engine) => engine.passTime(model) ?? [])
  const [pass] = passes.toSorted((a, b) => shareOf(b) - shareOf(a))
  if (pass === undefined) return null
  const lanes = engines.reduce((sum, engine) => sum + engine.deviceOf(model).lanes, 0)
  const share = shareOf(pass)
  return {
    pass_s: rounded(pass.usual),
    busy_s: pass.busy === undefined ? null : rounded(pass.busy),
    share: rounded(share),
    lanes,
    sessions: Math.floor(lanes / share),
  }
}

/** Returns the peak memory of a process in MB; null without /proc. */
export const peakMegabytes = (pid: number | undefined): number | null => {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid ?? 0}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? null : Math.round((Number(kilobytes) * 1024) / 1e6)
  } catch {
    return null
  }
}

export const lineOf = (model: string, room: Room | null): string => {
  if (room === null) return `${model}: no pass was measured`
  const { pass_s: pass, busy_s: busy, share, lanes, sessions } = room
  const cost = busy === null ? '' : `, ${busy} s of a processor`
  const capacity = `${sessions} sessions can be transcribed in time`
  return `${model}: a pass takes ${pass} s${cost}; a session takes ${share} of ${lanes} lanes; ${capacity}`
}
