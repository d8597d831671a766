import { spawn } from 'node:child_process'
import type { Puller, PullerEvents, StartPuller } from '../../../application/ports/audio-source.ts'
import { inheritedVariables } from '../../process/inherited-variables.ts'
import type { AddressRules } from '../network/address-guard.ts'
import { pullerCommand } from '../child-commands.ts'
import type { SourceIsolation } from '../source-isolation.ts'
import { createFrameReader, type PullCommand, type PullerMessage } from './puller-messages.ts'

/** Time for a puller to end with its decoder after SIGTERM, before both are killed. */
const GRACE_MS = 2000

/** The environment variables that a puller needs. */
const INHERITED = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'SystemRoot']

/** Copies the samples, because they may start at an odd address within the frame. */
const samplesOf = (pcm: Buffer): Int16Array => {
  const copy = new Uint8Array(pcm)
  return new Int16Array(copy.buffer, 0, Math.floor(copy.length / 2))
}

const dispatch = (events: PullerEvents, message: PullerMessage): void => {
  switch (message.kind) {
    case 'began':
      return events.began()
    case 'stretch':
      return events.stretch(message.continuity)
    case 'delivered':
      return events.delivered(message.mediaSequence)
    case 'target':
      return events.targetDuration(message.seconds)
    case 'damaged':
      return events.damaged(message.seconds)
    case 'ended':
      return events.ended(message.end)
  }
}

export interface PullersOptions {
  /** Read at the start of each pull, because our own port is unknown at first. */
  readonly rules: () => AddressRules
  readonly isolation: Pick<SourceIsolation, 'isolate' | 'pulls'>
}

/** Returns a puller without a process, for disabled URL sources: each pull fails at once. */
const refusing = (events: PullerEvents): Puller => ({
  pid: null,
  pull: () => queueMicrotask(() => events.ended(
    { kind: 'failed', code: 'not_isolated', retry: false, isPublic: false },
  )),
  pause: () => undefined,
  resume: () => undefined,
  stop: () => Promise.resolve(),
})

/** Starts pullers as separate processes. Each one leads a process group, which is killed as a whole. */
export const createPullers = ({ rules, isolation }: PullersOptions): StartPuller =>
  (events) => {
    if (!isolation.pulls) return refusing(events)
    const { file, args } = pullerCommand()
    const child = spawn(file, args, {
      stdio: ['pipe', 'pipe', 'ignore'], env: inheritedVariables(INHERITED), cwd: '/', detached: true,
    })
    const { pid } = child
    let hasEnded = false

    /** Kills the puller and its decoder, even if the decoder is stopped or the puller died first. */
    const killGroup = (): void => {
      try {
        if (pid !== undefined) process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
      } catch {
        // The group has already ended.
      }
    }
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => {
        killGroup()
        resolve()
      })
      child.on('error', () => resolve())
    })
    const died = (reason: string): void => {
      if (hasEnded) return
      hasEnded = true
      killGroup()
      events.died(reason)
    }
    const read = createFrameReader({
      audio: ({ pcm, time }) => { if (!hasEnded) events.audio(samplesOf(pcm), time) },
      message: (message) => { if (!hasEnded) dispatch(events, message) },
    })
    child.stdout.on('data', (bytes: Buffer) => {
      try {
        read(bytes)
      } catch (error) {
        died(String(error))
      }
    })
    // `close` comes after the last audio, and also when the start failed.
    child.once('close', (code, signal) => died(signal ?? `exit code ${code}`))
    child.once('error', (error) => died(error.message))
    child.stdin.on('error', () => undefined)

    return {
      pid: pid ?? null,
      pull: (target) => {
        const command: PullCommand = { ...target, rules: rules(), isolate: isolation.isolate }
        child.stdin.write(`${JSON.stringify(command)}\n`)
      },
      pause: () => {
        child.stdout.pause()
      },
      resume: () => {
        child.stdout.resume()
      },
      stop: async () => {
        hasEnded = true
        child.stdout.destroy()
        child.stdin.end()
        child.kill('SIGTERM')
        const grace = setTimeout(killGroup, GRACE_MS)
        await exited
        clearTimeout(grace)
      },
    }
  }
